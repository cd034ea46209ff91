//go:build linux

package workerzk_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/holding"
	"github.com/uidring/uidring/internal/servertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/workerzk"
)

// twin is a process in Java that takes its number as Leaf does.
type twin struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Scanner
	said  strings.Builder // on standard error; read after the end
}

// compile returns the class path of the service in Java.
func compile(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("javac"); err != nil {
		t.Skip(err)
	}
	jars, err := servertest.Classpath()
	if err != nil {
		t.Skip(err)
	}
	classes := t.TempDir()
	if said, err := exec.CommandContext(t.Context(), "javac", "-cp", jars, "-d", classes, "testdata/LeafTwin.java").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return jars + ":" + classes
}

// runTwin starts a service at port 8080 of an address, and returns the first line that
// it prints.
func runTwin(l *leaf, classpath, ip string) (*twin, string) {
	l.Helper()
	cmd := exec.CommandContext(l.Context(), "java", "-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classpath,
		"LeafTwin", shared(l.T)[0], l.name, ip, "8080")
	s := &twin{t: l.T, cmd: cmd}
	cmd.Stderr = &s.said
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		l.Fatal(err)
	}
	s.stdin, s.lines = stdin, bufio.NewScanner(stdout)
	l.Cleanup(s.end)
	return s, s.line()
}

func (s *twin) line() string {
	s.t.Helper()
	if !s.lines.Scan() {
		s.end()
		s.t.Fatalf("the service in Java has ended: %v; it said: %s", s.lines.Err(), &s.said)
	}
	return s.lines.Text()
}

// end ends the process in order.
func (s *twin) end() {
	_ = s.stdin.Close()
	_ = s.cmd.Wait()
}

// nodes is what the process reads of all processes: number, ip, port and timestamp.
func (s *twin) nodes() (nodes []string) {
	s.t.Helper()
	if _, err := io.WriteString(s.stdin, "\n"); err != nil {
		s.t.Fatal(err)
	}
	for line := s.line(); line != "end"; line = s.line() {
		nodes = append(nodes, strings.TrimPrefix(line, "node "))
	}
	slices.Sort(nodes)
	return nodes
}

// TestLeafBesideJava: processes in Go and in Java take different numbers of one name,
// read each other's nodes and clocks, and find each other's numbers by the address.
func TestLeafBesideJava(t *testing.T) {
	t.Parallel()
	classpath, l := compile(t), newLeaf(t)
	l.name = strings.ReplaceAll(l.name, "-", "_") // Leaf takes what follows a dash for the number
	start := func(ip string, clock func() time.Time) (*holding.Holder, error) {
		config := l.config(ip)
		config.Threshold = time.Minute // the machine may be slow
		leaser := workerzk.Leaf(connect(t, shared(t), 20*time.Second, nil), l.name, 8080, config).Faster(time.Second, time.Hour, time.Minute)
		return holding.Try(background(t), t, leaser, 1023, clock)
	}
	first, said := runTwin(l, classpath, "10.0.0.1")
	if said != "worker 0" {
		t.Fatalf("the first in Java says %q", said)
	}
	second, err := start("10.0.0.2", time.Now)
	if err != nil || second.Last().Number != 1 {
		t.Fatalf("%+v, %v; want number 1", second.Last(), err)
	}
	if _, said := runTwin(l, classpath, "10.0.0.3"); said != "worker 2" {
		t.Fatalf("the second in Java says %q", said)
	}

	stamp := func(nodes []string, number int) (stamp int64) {
		t.Helper()
		want := fmt.Sprintf("%d 10.0.0.%d 8080 ", number, number+1)
		if len(nodes) != 3 || !strings.HasPrefix(nodes[number], want) {
			t.Fatalf("Java reads %q, want %q", nodes, want)
		}
		if _, err := fmt.Sscan(strings.TrimPrefix(nodes[number], want), &stamp); err != nil {
			t.Fatal(err)
		}
		return stamp
	}
	before := first.nodes()
	servertest.Eventually(t, "Java reads that both report", func() bool {
		now := first.nodes()
		return stamp(now, 1) > stamp(before, 1) && stamp(now, 2) > stamp(before, 2)
	})
	if _, err := start("10.0.0.4", shifted(time.Hour)); !errors.Is(err, lease.ErrSkew) || !strings.Contains(err.Error(), "ahead of the mean of 3 peers") {
		t.Errorf("%v; want the clocks of Java too to be compared", err)
	}

	first.end()
	_, left := l.node("10.0.0.1:8080")
	if h, err := start("10.0.0.1", time.Now); err != nil || h.Last().Number != 0 || h.Last().From.UnixMilli() <= left {
		t.Errorf("%+v, %v; want Java's number 0 after %d", h.Last(), err, left)
	}
	if err := second.Release(background(t), time.Now()); err != nil {
		t.Fatal(err)
	}
	successor, said := runTwin(l, classpath, "10.0.0.2")
	if said != "worker 1" {
		t.Fatalf("the successor in Java says %q", said)
	}
	successor.end()

	ahead, err := start("10.0.0.2", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := ahead.Release(background(t), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, said := runTwin(l, classpath, "10.0.0.2"); !strings.HasPrefix(said, "refused") {
		t.Errorf("Java says %q to ids that lie ahead of the clock", said)
	}
}
