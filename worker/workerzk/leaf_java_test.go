//go:build linux

package workerzk_test

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

	"github.com/uidring/uidring/internal/servertest"
)

// twin is a process in Java that takes its number as Leaf does.
type twin struct {
	*testing.T
	stdin io.WriteCloser
	lines *bufio.Scanner
	end   func() // in order
}

// compile returns the class path of the service in Java.
func compile(t *testing.T) string {
	t.Helper()
	_, err := exec.LookPath("javac")
	jars, err2 := servertest.Classpath()
	if err := errors.Join(err, err2); err != nil {
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
	cmd.Stderr = os.Stderr
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		l.Fatal(err)
	}
	s := &twin{l.T, stdin, bufio.NewScanner(stdout), func() { _ = stdin.Close(); _ = cmd.Wait() }}
	l.Cleanup(s.end)
	return s, s.line()
}

func (s *twin) line() string {
	s.Helper()
	if !s.lines.Scan() {
		s.Fatalf("the service in Java has ended: %v", s.lines.Err())
	}
	return s.lines.Text()
}

// nodes is what the process reads of all processes: number, ip, port and timestamp.
func (s *twin) nodes() (nodes []string) {
	s.Helper()
	if _, err := io.WriteString(s.stdin, "\n"); err != nil {
		s.Fatal(err)
	}
	for line := s.line(); line != "end"; line = s.line() {
		nodes = append(nodes, strings.TrimPrefix(line, "node "))
	}
	slices.Sort(nodes)
	return nodes
}

// TestLeafBesideJava: processes in Go and in Java take different numbers of one name,
// read each other's nodes, and do not start with an address that the other uses.
func TestLeafBesideJava(t *testing.T) {
	classpath, l := compile(t), newLeaf(t)
	first, said := runTwin(l, classpath, "10.0.0.1")
	if said != "worker 0" {
		t.Fatalf("the first in Java says %q", said)
	}
	second := l.starts(nil, "10.0.0.2")
	if _, said := runTwin(l, classpath, "10.0.0.3"); said != "worker 2" || second.Last().Number != 1 {
		t.Fatalf("the second in Java says %q, granted %+v; want 2 and 1", said, second.Last())
	}
	stamp := func(number int) (stamp int64) {
		t.Helper()
		nodes, want := first.nodes(), fmt.Sprintf("%d 10.0.0.%d 8080 %%d", number, number+1)
		if _, err := fmt.Sscanf(nodes[number], want, &stamp); err != nil || len(nodes) != 3 {
			t.Fatalf("Java reads %q, want %q: %v", nodes, want, err)
		}
		return stamp
	}
	before := [3]int64{0, stamp(1), stamp(2)}
	servertest.Eventually(t, "Java reads that both report", func() bool { return stamp(1) > before[1] && stamp(2) > before[2] })
	if _, said := runTwin(l, classpath, "10.0.0.2"); !strings.HasPrefix(said, "refused") {
		t.Errorf("Java says %q to an address that is in use", said)
	}
	l.held("10.0.0.1", "a process of Leaf at 10.0.0.1")

	first.end()
	_, left := l.node("10.0.0.1")
	if g := l.starts(nil, "10.0.0.1").Last(); g.Number != 0 || !g.From.After(left) {
		t.Errorf("granted %+v; want Java's number 0 after %v", g, left)
	}
	if err := second.Release(background(t), time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, said := runTwin(l, classpath, "10.0.0.2"); said != "worker 1" {
		t.Fatalf("the successor in Java says %q", said)
	}
}
