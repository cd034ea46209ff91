package redisclients

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/uid"
)

// Process is a client that runs. Calls wait for each other.
type Process struct {
	t       testing.TB
	client  Client
	args    []string
	timeout time.Duration

	mu     sync.Mutex
	fault  error // why no process runs
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr *logged.Text
}

// Start starts the client, and ends it at the end of the test. The client asks servers in a
// random order. A draw may take timeout, and waits for one server half as long.
func (c Client) Start(t testing.TB, servers []string, token string, timeout time.Duration) *Process {
	t.Helper()
	servers = slices.Clone(servers)
	rand.Shuffle(len(servers), func(i, j int) { servers[i], servers[j] = servers[j], servers[i] })
	seconds := strconv.Itoa(max(1, int(timeout/time.Second/2)))
	p := &Process{t: t, client: c, args: slices.Concat(c.command[1:], []string{seconds, token}, servers), timeout: timeout}
	if p.start(); p.fault != nil {
		t.Fatal(p.fault)
	}
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.fault == nil {
			p.end()
		}
	})
	return p
}

// patience is how long a process may take to start or end.
const patience = 2 * time.Minute

// start starts a process, and waits until it answers a command that draws nothing.
func (p *Process) start() {
	p.cmd, p.stderr = exec.Command(p.client.command[0], p.args...), new(logged.Text)
	p.cmd.Dir, p.cmd.Stderr = p.client.dir, p.stderr
	p.cmd.WaitDelay = time.Second // for processes of the process
	var stdout io.Reader
	if p.stdin, p.fault = p.cmd.StdinPipe(); p.fault != nil {
		return
	}
	if stdout, p.fault = p.cmd.StdoutPipe(); p.fault != nil {
		return
	}
	p.stdout = bufio.NewReader(stdout)
	if p.fault = p.cmd.Start(); p.fault != nil {
		return
	}
	_, _ = fmt.Fprintln(p.stdin, "incr ready 0") // an error shows in the answer
	if _, inTime, err := p.read(patience); err != nil || !inTime {
		p.fault = fmt.Errorf("%s did not start: %w, %s", p.client.Name, errors.Join(err, p.cmd.Wait()), p.stderr)
	}
}

// end closes the input of the process, which then ends by itself.
func (p *Process) end() {
	kill := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
	defer kill.Stop()
	_ = p.stdin.Close()
	rest, _ := io.ReadAll(p.stdout) // an error shows in Wait
	if err := p.cmd.Wait(); err != nil || len(rest) > 0 || p.stderr.String() != "" {
		p.t.Errorf("%s ended with %v, and said %q, %q", p.client.Name, err, rest, p.stderr)
	}
}

var errTime = errors.New("the client did not answer in time")

// Draw draws n ids of a generator by a command: incr, get, pipeline or incrby. With an
// error, it returns those that the client got. If the process does not answer in time, Draw
// kills it and starts another. A process that ends by itself fails the test.
func (p *Process) Draw(command, generator string, n int) ([]uid.ID, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fault != nil {
		return nil, p.fault
	}
	_, _ = fmt.Fprintln(p.stdin, command, generator, n) // an error shows in the answer
	answer, inTime, err := p.read(p.timeout)
	switch {
	case !inTime:
		_ = p.stdin.Close()
		_ = p.cmd.Wait() // it was killed
		p.start()
	case err != nil:
		p.t.Errorf("%s ended without an answer", p.client.Name)
		p.end()
		p.start()
		return nil, err
	}
	if err != nil {
		return nil, errTime
	}
	ids, err := parse(answer)
	if errors.Is(err, uid.ErrSyntax) {
		p.t.Errorf("%s answers %q to %s", p.client.Name, answer, command)
	}
	if command == "incrby" && len(ids) == 1 {
		last := ids[0]
		ids = ids[:0]
		for i := range n {
			ids = append(ids, last-uid.ID(n-1-i))
		}
	}
	return ids, err
}

// read reads an answer. If that does not come in time, it kills the process.
func (p *Process) read(timeout time.Duration) (answer string, inTime bool, err error) {
	process := p.cmd.Process
	timer := time.AfterFunc(timeout, func() { _ = process.Kill() })
	answer, err = p.stdout.ReadString('\n')
	return answer, timer.Stop(), err
}

// parse reads the answer of a script.
func parse(answer string) (ids []uid.ID, err error) {
	answer, fault, failed := strings.Cut(answer, "error")
	for text := range strings.FieldsSeq(answer) {
		id, err := uid.ParseID(text)
		if err != nil {
			return ids, err
		}
		ids = append(ids, id)
	}
	if failed {
		return ids, errors.New(strings.TrimSpace(fault))
	}
	return ids, nil
}
