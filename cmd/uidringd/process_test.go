package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/test/logged"
)

// process returns the command as a process of its own, in a folder.
func process(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), beMain+"=1")
	return cmd
}

// running is a server in a process of its own.
type running struct {
	cmd    *exec.Cmd
	url    string // without a slash at the end
	stdout string
	out    *bufio.Reader // the rest of standard output
	log    logged.Text   // standard error
}

var serving = regexp.MustCompile(`^uidringd: serving at (https?://\S+)/\n$`)

// start starts a server at a free port.
func start(t *testing.T, dir string, args ...string) *running {
	t.Helper()
	r := &running{cmd: process(t, dir, append([]string{"--listen", "127.0.0.1:0"}, args...)...)}
	r.begin(t)
	return r
}

// startConfig starts a server with a config, in a folder of its own.
func startConfig(t *testing.T, config string) *running {
	t.Helper()
	dir := t.TempDir()
	return start(t, dir, "--config", write(t, dir, "c.yaml", config))
}

func (r *running) begin(t *testing.T) {
	t.Helper()
	pipe, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.cmd.Stderr = &r.log
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
		http.DefaultClient.CloseIdleConnections()
	})
	r.out = bufio.NewReader(pipe)
	if r.stdout, err = r.out.ReadString('\n'); err != nil {
		_ = r.cmd.Wait()
		t.Fatalf("%v, %s", err, &r.log)
	}
	found := serving.FindStringSubmatch(r.stdout)
	if found == nil {
		t.Fatalf("standard output is %q", r.stdout)
	}
	r.url = found[1]
}

// end sends a signal and returns the exit code.
func (r *running) end(t *testing.T, s os.Signal) int {
	t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		t.Error(err)
	}
	_ = r.cmd.Wait()
	return r.cmd.ProcessState.ExitCode()
}

// get asks a server and returns the answer's status and text.
func get(t *testing.T, client *http.Client, url string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// write makes a file in a folder and returns its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// health asks the gRPC health service about a service of that name.
func health(t *testing.T, r *running, service, want string) {
	t.Helper()
	answer, err := http.Post(r.url+"/grpc.health.v1.Health/Check", "application/json", strings.NewReader(`{"service": "`+service+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(text), `SERVING_STATUS_`+want+`"`) {
		t.Errorf("health of %q: %s, %v; want %s", service, text, err, want)
	}
}
