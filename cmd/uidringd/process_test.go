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
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	redigo "github.com/gomodule/redigo/redis"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
)

// process returns a command that runs this server in a folder, as a separate process.
func process(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := clitest.Process(t, args...)
	cmd.Dir = dir
	return cmd
}

// running is a server in a separate process.
type running struct {
	cmd    *exec.Cmd
	url    string // without a slash at the end
	stdout *bufio.Reader
	log    logged.Text // standard error

	redisAddress string // of the Redis protocol
	redisCommand string // that the server prints
}

// start starts a server at two free ports.
func start(t *testing.T, dir string, args ...string) *running {
	t.Helper()
	r := &running{cmd: process(t, dir, append([]string{"--listen", "127.0.0.1:0", "--redis", "127.0.0.1:0"}, args...)...)}
	r.begin(t)
	r.beginRedis(t)
	return r
}

// startConfig starts a server with a config, in a new folder.
func startConfig(t *testing.T, config string) *running {
	t.Helper()
	dir := t.TempDir()
	return start(t, dir, "--config", write(t, dir, "c.yaml", config))
}

// begin starts the process, and waits until it serves.
func (r *running) begin(t *testing.T) {
	t.Helper()
	pipe, err := r.cmd.StdoutPipe()
	need.Must(t, err)
	r.cmd.Stderr = &r.log
	need.Must(t, r.cmd.Start())
	t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
		http.DefaultClient.CloseIdleConnections()
	})
	r.stdout = bufio.NewReader(pipe)
	r.url = r.says(t, `uidringd: serving at (\S+?)/?`)[1]
}

// beginRedis waits until the server serves the Redis protocol.
func (r *running) beginRedis(t *testing.T) {
	t.Helper()
	found := r.says(t, `uidringd: serving the Redis protocol at (\S+): (.*)`)
	r.redisAddress, r.redisCommand = found[1], found[2]
}

// says reads a line of standard output.
func (r *running) says(t *testing.T, pattern string) []string {
	t.Helper()
	line, err := r.stdout.ReadString('\n')
	found := regexp.MustCompile("^" + pattern + "\n$").FindStringSubmatch(line)
	if found == nil {
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
		t.Fatalf("standard output is %q, %v; %s", line, err, &r.log)
	}
	return found
}

// address returns the host and port of HTTP.
func (r *running) address() string {
	_, address, _ := strings.Cut(r.url, "://")
	return address
}

// end sends a signal and returns the exit code.
func (r *running) end(t *testing.T, s os.Signal) int {
	t.Helper()
	need.Must(t, r.cmd.Process.Signal(s))
	_ = r.cmd.Wait()
	return r.cmd.ProcessState.ExitCode()
}

// stop ends the server as an operator does.
func (r *running) stop(t *testing.T) {
	t.Helper()
	if code := r.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d: %s", code, &r.log)
	}
}

// get asks the server and returns the answer's status and text.
func (r *running) get(t *testing.T, path string, header ...string) (int, string) {
	t.Helper()
	return get(t, http.DefaultClient, r.url+path, header...)
}

// serves expects an answer of status 200.
func (r *running) serves(t *testing.T, path string) {
	t.Helper()
	if status, text := r.get(t, path); status != http.StatusOK {
		t.Errorf("%s: %d %s", path, status, text)
	}
}

// ready reports whether /readyz answers 200.
func (r *running) ready(t *testing.T) bool {
	t.Helper()
	status, _ := r.get(t, "/readyz")
	return status == http.StatusOK
}

// client draws ids until it is told to stop.
type client struct {
	name         string
	lost         int64 // calls that may fail
	draw         func() error
	drawn, fails atomic.Int64
}

// run draws until enough is closed.
func (c *client) run(t *testing.T, enough <-chan struct{}) {
	for {
		select {
		case <-enough:
			return
		case <-time.After(time.Millisecond):
		}
		if err := c.draw(); err != nil {
			c.fails.Add(1)
			t.Logf("%s: %v", c.name, err)
		} else {
			c.drawn.Add(1)
		}
	}
}

// done reports a client that lost too many calls.
func (c *client) done(t *testing.T) {
	t.Helper()
	if c.fails.Load() > c.lost {
		t.Errorf("%s lost %d of %d calls, want %d at most", c.name, c.fails.Load(), c.drawn.Load(), c.lost)
	}
}

// incr draws an order through a pool of redigo.
func incr(pool *redigo.Pool, name string) error {
	conn := pool.Get()
	defer conn.Close()
	_, err := redigo.Int64(conn.Do("INCR", name))
	return err
}

// dialRedis returns a client that has a pool.
func dialRedis(t *testing.T, o redis.Options) *redis.Client {
	t.Helper()
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	client := redis.NewClient(&o)
	t.Cleanup(func() { client.Close() })
	return client
}

// get asks a server and returns the answer's status and text.
func get(t *testing.T, client *http.Client, url string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	need.Must(t, err)
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	answer, err := client.Do(r)
	need.Must(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	need.Must(t, err)
	return answer.StatusCode, string(text)
}

// write makes a file in a folder and returns its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	need.Must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// health asks the gRPC health service about a service of that name.
func health(t *testing.T, r *running, service, want string) {
	t.Helper()
	answer, err := http.Post(r.url+"/grpc.health.v1.Health/Check", "application/json", strings.NewReader(`{"service": "`+service+`"}`))
	need.Must(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	need.Must(t, err)
	clitest.Wants(t, string(text), `"`+want+`"`)
}
