//go:build linux

package servertest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
)

// Find returns the path of a program, from PATH or the usual folders. Of several versions
// it takes the last. It skips the test if there is none.
func Find(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			target, err := filepath.EvalSymlinks(path)
			if err == nil && filepath.Base(target) == name {
				return target // such a program finds files beside itself
			}
			return path // such a program acts by its name: redis-server is a link
		}
		for _, pattern := range []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/sbin", "/usr/libexec", "/usr/local/sbin", "/usr/local/bin"} {
			paths, _ := filepath.Glob(filepath.Join(pattern, name))
			if len(paths) > 0 {
				return paths[len(paths)-1]
			}
		}
	}
	need.Skip(t, "there is no "+names[0]+" here")
	return ""
}

func port(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

// Program is a server with a directory for its data. It can be started again on the same
// data.
type Program struct {
	Command func(port string) *exec.Cmd // not started yet
	Args    []string                    // more arguments of the command
	End     syscall.Signal              // ends the server and all its processes at once
	Ready   func(address string) error  // nil is that the server serves
}

// launch starts the server and waits until it serves.
func (p Program) launch(ctx context.Context, address string) (*Process, error) {
	process := &Process{cmd: p.Command(port(address)), kill: p.End, gone: make(chan struct{})}
	process.cmd.Args = append(process.cmd.Args, p.Args...)
	process.cmd.Dir = cmp.Or(process.cmd.Dir, "/")
	process.cmd.Stdout, process.cmd.Stderr = &process.output, &process.output
	if process.cmd.SysProcAttr == nil {
		process.cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	process.cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL // the server ends with this process
	if err := process.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(process.gone)
		_ = process.cmd.Wait() // how it ended does not matter
	}()
	if err := process.await(ctx, func() error { return p.Ready(address) }); err != nil {
		process.Kill()
		return nil, err
	}
	return process, nil
}

// Member is a server, maybe of a cluster, that starts again at the same address.
type Member struct {
	*Process
	Address  string
	Endpoint string // the URL of an HTTP server there
	program  Program
}

// At returns the server at an address, which does not run yet.
func (p Program) At(address string) *Member {
	return &Member{Address: address, Endpoint: "http://" + address, program: p}
}

// Launch starts the server, also again after its end on what it has on disk, and waits until it
// serves. The caller kills it.
func (m *Member) Launch(ctx context.Context) (err error) {
	m.Process, err = m.program.launch(ctx, m.Address)
	return err
}

// Restart is Launch for a server that is killed at the end of the test.
func (m *Member) Restart(t testing.TB) {
	t.Helper()
	need.Must(t, m.Launch(t.Context()))
	t.Cleanup(m.Process.Kill)
}

// Hosts returns the addresses of servers.
func Hosts(members []*Member) (hosts []string) {
	for _, m := range members {
		hosts = append(hosts, m.Address)
	}
	return hosts
}

// startAll starts programs at the same time: those of a cluster wait for each other.
func startAll(t testing.TB, programs []Program) []*Member {
	t.Helper()
	members := make([]*Member, len(programs))
	var starting sync.WaitGroup
	for i, address := range Addresses(t, len(programs)) {
		members[i] = programs[i].At(address)
		starting.Go(func() { members[i].Restart(t) })
	}
	starting.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return members
}

// Process is a server that runs.
type Process struct {
	cmd  *exec.Cmd
	kill syscall.Signal
	gone chan struct{} // closed when the server has ended

	output logged.Text
}

func (p *Process) await(ctx context.Context, ready func() error) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-p.gone:
			return fmt.Errorf("%s has ended: %w; its output: %s", p.cmd.Path, err, &p.output)
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: %w; its output: %s", p.cmd.Path, err, &p.output)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Kill ends the server at once, as kill -9 does, even while it is paused.
func (p *Process) Kill() { p.End(p.kill) }

// Stop shuts the server down by SIGTERM, and waits until it has ended.
func (p *Process) Stop() { p.End(syscall.SIGTERM) }

// End sends the server a signal, and waits until the server has ended.
func (p *Process) End(signal syscall.Signal) {
	_ = p.cmd.Process.Signal(signal) // fails if the server has ended
	p.Continue()
	select {
	case <-p.gone:
	case <-time.After(2 * time.Minute):
		_ = p.cmd.Process.Kill()
		<-p.gone
	}
}

// Usage is what a process has used.
type Usage struct {
	CPU    time.Duration
	Memory int64 // resident, in bytes
}

// Used returns what the server and its child processes have used so far; the memory is the server's own.
func (p *Process) Used(t testing.TB) Usage {
	t.Helper()
	own := used(t, strconv.Itoa(p.cmd.Process.Pid))
	pids, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", p.cmd.Process.Pid))
	for pid := range strings.FieldsSeq(string(pids)) {
		own.CPU += used(t, pid).CPU
	}
	return own
}

// used is what a process has used, and those of its children that have ended. It is zero for one that is gone.
func used(t testing.TB, pid string) Usage {
	t.Helper()
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if os.IsNotExist(err) {
		return Usage{}
	}
	need.Must(t, err)
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+2:])) // proc(5), from the third field on
	number := func(i int) int64 {
		n, err := strconv.ParseInt(fields[i-3], 10, 64)
		need.Must(t, err)
		return n
	}
	return Usage{time.Duration(number(14)+number(15)+number(16)+number(17)) * 10 * time.Millisecond, number(24) * int64(os.Getpagesize())}
}

// Pause stops the server until Continue is called.
func (p *Process) Pause() { _ = p.cmd.Process.Signal(syscall.SIGSTOP) }

// Continue ends a pause.
func (p *Process) Continue() { _ = p.cmd.Process.Signal(syscall.SIGCONT) }
