//go:build linux

// Package deploy tests the files that deploy the server, with the programs that read them
// elsewhere: a Kubernetes API server, docker compose and systemd.
package deploy

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/uidring/uidring/internal/test/need"
)

// folder holds the server that was built.
var folder string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if folder, err = os.MkdirTemp("", "deploy"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(folder)
		return m.Run()
	}())
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	need.Must(t, err)
	return string(text)
}

// find returns the groups of a pattern that name matches once.
func find(t *testing.T, name, pattern string) []string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^`+pattern+`$`).FindAllStringSubmatch(read(t, name), -1)
	if len(found) != 1 {
		t.Fatalf("%s has %d lines %q, want 1", name, len(found), pattern)
	}
	return found[0][1:]
}

// built builds the server by the command of the Dockerfile, unless UIDRING_TEST_IMAGE is the root folder of an image.
var built = sync.OnceValues(func() (string, error) {
	if image := os.Getenv("UIDRING_TEST_IMAGE"); image != "" {
		return filepath.Join(image, "uidringd"), nil
	}
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		return "", err
	}
	line := regexp.MustCompile(`(?m)^RUN (.* -o) (/out/uidringd) (.*)$`).FindStringSubmatch(string(text))
	if line == nil {
		return "", errors.New("Dockerfile has no RUN with go build -o /out/uidringd")
	}
	file := filepath.Join(folder, "uidringd")
	build := exec.Command("sh", "-c", line[1]+" "+file+" "+line[3])
	build.Dir = "../../.." // the build's context
	build.Env = append(os.Environ(), "VERSION=v9.8.7")
	out, err := build.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", build, err, out)
	}
	return file, err
})

func server(t *testing.T) string {
	t.Helper()
	file, err := built()
	need.Must(t, err)
	return file
}

// ask has the server do something with a config, and returns what it prints.
func ask(t *testing.T, config string, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "uidring.yaml")
	need.Must(t, os.WriteFile(file, []byte(config), 0o600))
	out, err := exec.CommandContext(t.Context(), server(t), append(args, "--config", file)...).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s\n%s", err, out, config)
	}
	return string(out)
}

// The image is one static file, and runs as a user that is not root.
func TestImage(t *testing.T) {
	file, err := elf.Open(server(t))
	need.Must(t, err)
	defer file.Close()
	for _, part := range file.Progs {
		if part.Type == elf.PT_INTERP || part.Type == elf.PT_DYNAMIC {
			t.Errorf("the server has a part %v, so it is not static", part.Type)
		}
	}
	out, err := exec.CommandContext(t.Context(), server(t), "--version").Output()
	if err != nil || !strings.HasPrefix(string(out), "uidringd version v9.8.7 ") {
		t.Errorf("%s, %v; want the version of the build", out, err)
	}
	var packed bytes.Buffer
	text, err := os.ReadFile(server(t))
	need.Must(t, err)
	layer := gzip.NewWriter(&packed)
	_, err = layer.Write(text)
	need.Must(t, errors.Join(err, layer.Close()))
	if packed.Len() > 20<<20 {
		t.Errorf("the server has %d bytes in a registry, want 20 MiB at most", packed.Len())
	}
	const name = "Dockerfile"
	_, image, scratch := strings.Cut(read(t, name), "\nFROM scratch\n")
	if !scratch || strings.Contains(image, "\nRUN ") || strings.Contains(image, "\nFROM ") {
		t.Error("the last image is not made from scratch by copies alone")
	}
	find(t, name, `FROM --platform=\$BUILDPLATFORM docker\.io/\S+ AS build`) // podman knows no registry for a short name
	copied := find(t, name, `COPY --from=build /out/uidringd (\S+)`)[0]
	if check := find(t, name, `HEALTHCHECK .* CMD \["(\S+)", "health"\]`)[0]; check != copied {
		t.Errorf("the health check runs %s, and the server is copied to %s", check, copied)
	}
	if entry := find(t, name, `ENTRYPOINT \["(\S+)"\]`)[0]; entry != copied {
		t.Errorf("the entry point is %s, and the server is copied to %s", entry, copied)
	}
	if user := find(t, name, `USER (\d+):\d+`)[0]; user == "0" {
		t.Error("the image runs as root")
	}
}

// The server serves where there is nothing but itself and its config, as nobody. There it
// may write no file.
func TestFromScratch(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may change its root folder")
	}
	root := t.TempDir()
	need.Must(t, os.Chmod(root, 0o755))
	need.Must(t, os.CopyFS(root, os.DirFS(filepath.Dir(server(t)))))
	config := "generators: [{name: ids, kind: cached, worker: \"static:1\"}]\nshutdown: {delay: 0s}\n"
	need.Must(t, os.WriteFile(filepath.Join(root, "uidring.yaml"), []byte(config), 0o644))
	command := inside(t, root, "--listen", "127.0.0.1:0", "--config", "/uidring.yaml")
	var log strings.Builder
	command.Stderr = &log
	stdout, err := command.StdoutPipe()
	need.Must(t, err)
	need.Must(t, command.Start())
	line, _ := bufio.NewReader(stdout).ReadString('\n')
	if found := regexp.MustCompile(`http://\S+/`).FindString(line); found == "" {
		t.Errorf("standard output is %q", line)
	} else {
		answer, err := http.Get(found + "v1/ids?n=3")
		need.Must(t, err)
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%v", answer)
		}
		if out, err := inside(t, root, "health", found).CombinedOutput(); err != nil || string(out) != "ready\n" {
			t.Errorf("the health check: %s, %v", out, err)
		}
	}
	_ = command.Process.Signal(syscall.SIGTERM)
	if err := command.Wait(); err != nil {
		t.Errorf("%v\n%s", err, &log)
	}
}

// inside returns a command of the server in its image, without an environment.
func inside(t *testing.T, root string, args ...string) *exec.Cmd {
	command := exec.CommandContext(t.Context(), "/uidringd", args...)
	command.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	command.Dir, command.Env = "/", []string{}
	return command
}
