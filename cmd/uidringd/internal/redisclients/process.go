package redisclients

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/logged"
	"github.com/uidring/uidring/uid"
)

// Process is a client that runs. It is not safe for concurrent use.
type Process struct {
	t      testing.TB
	client Client
	args   []string

	cmd    *exec.Cmd // nil if none runs
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr *logged.Text
}

// Start starts the client, and ends it at the end of the test. It asks the servers in a
// random order, and waits for one as long as timeout, rounded up to seconds.
func (c Client) Start(t testing.TB, servers []string, token string, timeout time.Duration) *Process {
	t.Helper()
	servers = slices.Clone(servers)
	rand.Shuffle(len(servers), func(i, j int) { servers[i], servers[j] = servers[j], servers[i] })
	seconds := (timeout + time.Second - 1) / time.Second
	p := &Process{t: t, client: c, args: slices.Concat(c.command[1:], []string{strconv.Itoa(int(seconds)), token}, servers)}
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.end)
	return p
}

func (p *Process) start() (err error) {
	cmd := exec.Command(p.client.command[0], p.args...)
	p.stderr = new(logged.Text)
	cmd.Dir, cmd.Stderr = p.client.dir, p.stderr
	cmd.WaitDelay = time.Second // for processes of the process
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	p.stdout, p.cmd = bufio.NewReader(stdout), cmd
	return nil
}

// end closes the input of the process, which then ends by itself.
func (p *Process) end() {
	cmd := p.cmd
	if cmd == nil {
		return
	}
	p.cmd = nil
	_ = p.stdin.Close()
	kill := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	rest, _ := io.ReadAll(p.stdout) // an error shows in Wait
	if err := cmd.Wait(); err != nil || len(rest) > 0 || p.stderr.String() != "" {
		p.t.Errorf("%s ended with %v, and said %q, %q", p.client.Name, err, rest, p.stderr)
	}
}

// Draw draws n ids of a generator by a command: incr, get, pipeline or incrby. With an
// error, it returns those that the client got. It kills the process when ctx is over, and
// the next Draw starts another. A process that ends by itself fails the test.
func (p *Process) Draw(ctx context.Context, command, generator string, n int) ([]uid.ID, error) {
	if p.cmd == nil {
		if err := p.start(); err != nil {
			return nil, err
		}
	}
	cmd := p.cmd
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	_, _ = fmt.Fprintln(p.stdin, command, generator, n) // an error shows in the answer
	answer, err := p.stdout.ReadString('\n')
	switch killed := !stop(); {
	case killed:
		p.cmd = nil
		_ = p.stdin.Close()
		_ = cmd.Wait()
		if err != nil {
			return nil, context.Cause(ctx)
		}
	case err != nil:
		p.end()
		p.t.Errorf("%s ended without an answer", p.client.Name)
		return nil, err
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
