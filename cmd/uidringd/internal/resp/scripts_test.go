package resp_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

// script uses a library of another language, as testdata/clients has it. Its arguments are a
// timeout in seconds, a token or "", and servers, each host:port or the path of a socket. A line of
// its standard input is a command, the name of a generator, and n:
//
//	incr NAME n      n ids by INCR
//	get NAME n       n ids by GET
//	pipeline NAME n  n ids by INCRs in a pipeline
//	incrby NAME n    n ids by one INCRBY
//
// The script answers with one line: the ids, or the greatest of an INCRBY. If it could not draw all
// of them, "error" and a text follow. The script ends with its input.
//
// A script draws from the first server. The library may try again by itself. If it fails then, the
// script draws what is missing from the next server. It gives up when each server has failed, and
// the first one twice. Ids that the library got and does not tell are a gap.
type script struct {
	name    string
	command []string
	probe   []string // fails without the library
}

// scripts installs the libraries of Node in a folder, and returns the scripts with the folder. All
// other libraries have to be there.
func scripts(t *testing.T) (dir string, all []script) {
	t.Helper()
	dir = t.TempDir()
	need.Must(t, os.CopyFS(dir, os.DirFS("testdata/clients")))
	install := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Logf("npm: %v, %s", err, out) // the tests of Node are skipped
	}
	const python = "/usr/bin/python3" // which finds Debian's packages
	return dir, []script{
		{"PHP", []string{"php", "client.php"}, []string{"php", "-r", "new Redis();"}},
		{"predis", []string{"php", "predis.php"}, []string{"php", "-r", "require 'Predis/autoload.php';"}},
		{"Ruby", []string{"ruby", "client.rb"}, []string{"ruby", "-e", "require 'redis'"}},
		{"Perl", []string{"perl", "client.pl"}, []string{"perl", "-MRedis", "-e1"}},
		{"Python", []string{python, "client.py"}, []string{python, "-c", "import redis"}},
		{"Node", []string{"node", "redis.mjs"}, []string{"node", "-e", "require.resolve('redis')"}},
		{"ioredis", []string{"node", "ioredis.mjs"}, []string{"node", "-e", "require.resolve('ioredis')"}},
		{"redis-cli", []string{"sh", "client.sh"}, []string{"redis-cli", "--version"}},
	}
}

// needs skips the test if the library cannot be used here.
func (s script) needs(t *testing.T, dir string) {
	t.Helper()
	probe := exec.CommandContext(t.Context(), s.probe[0], s.probe[1:]...)
	probe.Dir = dir
	if out, err := probe.CombinedOutput(); err != nil {
		need.Skip(t, fmt.Errorf("%q: %w, %.500s", s.probe, err, out))
	}
}

// process is a script that runs.
type process struct {
	t      *testing.T
	name   string
	stdin  io.Writer
	stdout *bufio.Reader
	hangs  *time.Timer // kills it
}

// hung is longer than a script waits for its servers.
const hung = 2 * time.Minute

// start starts a script, and ends it with the test. It is killed if it hangs.
func (s script) start(t *testing.T, dir, token string, servers ...string) *process {
	t.Helper()
	cmd, stderr := exec.Command(s.command[0], slices.Concat(s.command[1:], []string{"10", token}, servers)...), new(logged.Text)
	cmd.Dir, cmd.Stderr = dir, stderr
	cmd.WaitDelay = time.Second // for processes of the process
	stdin, err := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	need.Must(t, errors.Join(err, err2, cmd.Start()))
	hangs := time.AfterFunc(hung, func() { _ = cmd.Process.Kill() })
	hangs.Stop()
	t.Cleanup(func() {
		hangs.Reset(hung)
		defer hangs.Stop()
		_ = stdin.Close()
		rest, _ := io.ReadAll(stdout) // an error shows in Wait
		if err := cmd.Wait(); err != nil || len(rest) > 0 || stderr.String() != "" {
			t.Errorf("%s ended with %v, and said %q, %q", s.name, err, rest, stderr)
		}
	})
	return &process{t, s.name, stdin, bufio.NewReader(stdout), hangs}
}

// draw draws n ids of a generator by a command. With an error, it returns those that the client got.
func (p *process) draw(command, generator string, n int) (ids []uid.ID, err error) {
	p.t.Helper()
	p.hangs.Reset(hung)
	defer p.hangs.Stop()
	_, _ = fmt.Fprintln(p.stdin, command, generator, n) // an error shows in the answer
	answer, err := p.stdout.ReadString('\n')
	if err != nil {
		p.t.Fatalf("%s: %s ended without an answer: %v", command, p.name, err)
	}
	drawn, fault, failed := strings.Cut(answer, "error")
	for text := range strings.FieldsSeq(drawn) {
		id, err := uid.ParseID(text)
		if err != nil {
			p.t.Fatalf("%s: %s answers %q", command, p.name, answer)
		}
		ids = append(ids, id)
	}
	if failed {
		err = errors.New(strings.TrimSpace(fault))
	}
	if command == "incrby" && len(ids) == 1 {
		for last := ids[0]; len(ids) < n; {
			ids = append(ids, last-uid.ID(len(ids)))
		}
	}
	return ids, err
}
