//go:build linux

package readme

import (
	"archive/zip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
)

// TestWalk follows pages word by word, each in an empty folder and with a database that was just made. Only
// addresses are others.
func TestWalk(t *testing.T) {
	need.CI(t)
	bin, path := t.TempDir(), os.Getenv("PATH")
	for _, program := range []string{need.Variable(t, "UIDRING_TEST_PROMTOOL"), servertest.Find(t, "haproxy")} {
		path = filepath.Dir(program) + ":" + path
	}
	environ := append(release(t), "GOBIN="+bin, "CGO_ENABLED=0", "PATH="+bin+":"+path)
	t.Run("guide", func(t *testing.T) {
		server := servertest.MariaDB(t, t.TempDir()).Start(t, dbtest.Answers)
		_, port, _ := strings.Cut(server.Address, ":")
		changes := []string{"127.0.0.1:3306", server.Address, "3306", port}
		for i, address := range servertest.Addresses(t, 3) {
			changes = append(changes, fmt.Sprintf("127.0.0.1:%d", 8080+i), address)
		}
		if outputs := walk(t, "docs/guide.md", environ, changes...); outputs < 3 {
			t.Errorf("the page shows %d outputs", outputs)
		}
	})
	t.Run("server", func(t *testing.T) {
		server := servertest.Postgres(t, t.TempDir()).Start(t, dbtest.Answers)
		address := servertest.Addresses(t, 1)[0]
		walk(t, "docs/server.md", environ, "postgres://uidring:secret@127.0.0.1/uidring", server.URL(server.Address),
			"127.0.0.1:8080", address, "uidringd &\n", "uidringd --listen "+address+" &\n")
	})
}

// walk runs the commands of a page in one bash, in their order, in an empty folder. It writes the files that
// the page tells the reader to save, where they stand. Text after commands is what they have to print, where …
// is anything. It returns how many such texts there are.
func walk(t *testing.T, page string, environ []string, changes ...string) int {
	t.Helper()
	folder, outputs := t.TempDir(), t.TempDir()
	var script strings.Builder
	script.WriteString("set -eu -o pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\ncurl() { command curl -fS \"$@\"; }\n")
	wants := map[string]string{}
	output := ""
	block := regexp.MustCompile("(?ms)(?:`([\\w.]+)`:\n\n)?^```(\\w*)\n(.*?)^```$")
	for i, found := range block.FindAllStringSubmatch(read(t, page), -1) {
		name, kind, text := found[1], found[2], strings.NewReplacer(changes...).Replace(found[3])
		switch {
		case name != "":
			fmt.Fprintf(&script, "cat >%s <<'END OF FILE'\n%sEND OF FILE\n", name, text)
		case kind == "sh":
			output = filepath.Join(outputs, fmt.Sprint(i))
			fmt.Fprintf(&script, "{\n%s} >%s\n", text, output)
		case kind == "text" && output != "":
			wants[output] = text
		default:
			t.Fatalf("%s: nobody knows what to do with this block:\n%s", page, text)
		}
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-xc", script.String())
	cmd.Dir, cmd.Env = folder, append(os.Environ(), environ...)
	cmd.WaitDelay = 10 * time.Second
	log, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", page, err, log)
	}
	for output, want := range wants {
		got, err := os.ReadFile(output)
		need.Must(t, err)
		if !regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(want), "…", ".*") + "$").Match(got) {
			t.Errorf("%s: a command printed %q, want %q\n%s", page, got, want, log)
		}
	}
	return len(wants)
}

// release makes a release of the present files, and returns the environment in which the go command
// downloads it.
func release(t *testing.T) []string {
	t.Helper()
	const path = "github.com/uidring/uidring"
	run := func(name string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = top
		out, err := cmd.Output()
		need.Must(t, err)
		return strings.TrimSpace(string(out))
	}
	version := fmt.Sprintf("v0.998.%d", os.Getpid()) // of this test alone, since everybody shares the cache of modules
	files := strings.Fields(run("git", "ls-files", "--cached", "--others", "--exclude-standard"))
	folders := []string{}
	for _, file := range files {
		if filepath.Base(file) == "go.mod" {
			folders = append(folders, filepath.Dir(file))
		}
	}
	proxy := t.TempDir()
	for _, folder := range folders {
		module := filepath.Join(path, folder)
		made := filepath.Join(proxy, module, "@v")
		need.Must(t, os.MkdirAll(made, 0o700))
		mod := read(t, filepath.Join(folder, "go.mod"))
		mod = regexp.MustCompile(`(?ms)^replace (\(.*?^\)|[^\n]*)\n`).ReplaceAllString(mod, "")
		mod = regexp.MustCompile(`(`+path+`\S*) v0\S*`).ReplaceAllString(mod, "$1 "+version)
		archive, err := os.Create(filepath.Join(made, version+".zip"))
		need.Must(t, err)
		packed := zip.NewWriter(archive)
		for _, file := range files {
			if inside(file, folders) != folder {
				continue
			}
			text := mod
			if filepath.Base(file) != "go.mod" {
				text = read(t, file)
			}
			name, err := filepath.Rel(folder, file)
			need.Must(t, err)
			w, err := packed.Create(module + "@" + version + "/" + name)
			need.Must(t, err)
			_, err = w.Write([]byte(text))
			need.Must(t, err)
		}
		need.Must(t, errors.Join(packed.Close(), archive.Close()))
		for suffix, text := range map[string]string{"list": version, version + ".info": `{"Version":"` + version + `"}`, version + ".mod": mod} {
			need.Must(t, os.WriteFile(filepath.Join(made, suffix), []byte(text), 0o600))
		}
	}
	cache := run("go", "env", "GOMODCACHE")
	t.Cleanup(func() {
		for _, tree := range []string{cache, filepath.Join(cache, "cache", "download")} {
			need.Must(t, filepath.WalkDir(filepath.Join(tree, filepath.Dir(path)), func(path string, d fs.DirEntry, err error) error {
				if err != nil || !strings.Contains(d.Name(), version) {
					return err
				}
				if err := os.RemoveAll(path); err != nil || !d.IsDir() {
					return err
				}
				return fs.SkipDir
			}))
		}
	})
	return []string{"GOPROXY=file://" + proxy + "," + run("go", "env", "GOPROXY"), "GONOSUMDB=" + path, "GOWORK=off", "GOFLAGS=-modcacherw"}
}

// inside returns the folder of a file's module.
func inside(file string, folders []string) string {
	for folder := filepath.Dir(file); ; folder = filepath.Dir(folder) {
		if slices.Contains(folders, folder) {
			return folder
		}
	}
}
