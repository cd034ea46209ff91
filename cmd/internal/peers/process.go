package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/uidring/uidring/cmd/internal/bench"
)

// process is a server that this run has started.
type process struct {
	address string // of HTTP
	redis   string // of the Redis protocol; empty without it
	cmd     *exec.Cmd
}

// serveEmpty is the subcommand that is the empty handler's server.
const serveEmpty = "serve-empty"

// runEmpty serves until it is killed.
func runEmpty() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("serving at http://%s/\n", listener.Addr())
	mux := http.NewServeMux()
	mux.HandleFunc("GET /empty", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /constant", func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"], w.Header()["Cache-Control"] = []string{"text/plain; charset=utf-8"}, []string{"no-store"}
		_, _ = io.WriteString(w, "1234567890123456789\n") // a client that is gone reads no error
	})
	return http.Serve(listener, mux)
}

func startEmpty(env ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, serveEmpty)
	cmd.Env = append(os.Environ(), env...)
	return start(cmd)
}

// The generators have room for what a run draws: no layout's rate is measured. The limits have
// room for the idle connections.
const uidringdConfig = `listen: 127.0.0.1:0
generators:
  - {name: ids, kind: cached, layout: 31/1/31, worker: static:1}
limits: {connections: 12000, per_address: 12000}
shutdown: {delay: 0s}
`

// buildUidringd builds the server that is measured.
func buildUidringd(dir string) (binary string, err error) {
	if binary, err = build(dir, "uidringd"); err != nil {
		return "", err
	}
	return binary, os.WriteFile(binary+".yaml", []byte(uidringdConfig), 0o600)
}

// build builds a command of ours into dir, as users run it.
func build(dir, name string) (binary string, err error) {
	binary = filepath.Join(dir, name)
	if text, err := exec.Command("go", "build", "-o", binary, "github.com/uidring/uidring/cmd/"+name).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w: %s", name, err, text)
	}
	return binary, nil
}

func startUidringd(binary string) (*process, error) {
	return start(exec.Command(binary, "--config", binary+".yaml"))
}

// start waits for the line in which a server says where it serves.
func start(cmd *exec.Cmd) (*process, error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	_, address, found := strings.Cut(strings.TrimSpace(line), "http://")
	p := &process{address: strings.TrimSuffix(address, "/"), cmd: cmd}
	if err == nil && found && slices.Contains(cmd.Args, "--redis") {
		line, err = lines.ReadString('\n')
		_, address, found = strings.Cut(line, "the Redis protocol at ")
		p.redis, _, _ = strings.Cut(address, ": ")
	}
	if err != nil || !found {
		err = errors.Join(err, p.stop())
		return nil, errors.Join(fmt.Errorf("%s says %q: %s", cmd, line, &log), err)
	}
	return p, nil
}

// stop kills the server: what it gives back otherwise is nobody's.
func (p *process) stop() error {
	err := p.cmd.Process.Signal(syscall.SIGKILL)
	_ = p.cmd.Wait() // which says that it was killed
	return err
}

// renewal is a task that starts servers anew, so that no figure hangs on where one process
// lies in memory.
type renewal []*process

// Sample implements bench.Task.
func (r renewal) Sample(context.Context) ([]bench.Figure, error) {
	for _, p := range r {
		if err := p.stop(); err != nil {
			return nil, err
		}
		cmd := exec.Command(p.cmd.Path, p.cmd.Args[1:]...)
		cmd.Env = p.cmd.Env
		again, err := start(cmd)
		if err != nil {
			return nil, err
		}
		*p = *again
	}
	return nil, nil
}

// cpu returns the time of processors that the process has used, or 0 where the
// system has no /proc.
func (p *process) cpu() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name may hold blanks
	fields := strings.Fields(rest)
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond // USER_HZ is 100
}

// gauge returns a figure of the server's /metrics.
func (p *process) gauge(name string) (float64, error) {
	response, err := http.Get("http://" + p.address + "/metrics")
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if value, is := strings.CutPrefix(lines.Text(), name+" "); is {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("/metrics has no %s", name)
}
