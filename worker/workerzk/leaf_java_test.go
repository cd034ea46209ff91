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

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
)

// twin is a process in Java that takes its number as Leaf does.
type twin struct {
	stdin io.WriteCloser
	line  func() string // it printed next
	end   func()        // in order
}

// runTwin starts a service at port 8080 of an address, and returns the first line that
// it prints.
func runTwin(l *leaf, ip string) (*twin, string) {
	l.Helper()
	jars, err := servertest.Classpath()
	cmd := exec.CommandContext(l.Context(), "java", "-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", jars,
		"testdata/LeafTwin.java", shared(l.T)[0], l.name, ip, "8080")
	cmd.Stderr = os.Stderr
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	if err := errors.Join(err, err1, err2, cmd.Start()); err != nil {
		l.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	s := &twin{stdin, func() string {
		if !lines.Scan() {
			l.Fatalf("the service in Java has ended: %v", lines.Err())
		}
		return lines.Text()
	}, func() { _ = stdin.Close(); _ = cmd.Wait() }}
	l.Cleanup(s.end)
	return s, s.line()
}

// TestLeafBesideJava: processes in Go and in Java take different numbers of one name,
// read each other's nodes, and do not start with an address that the other uses.
func TestLeafBesideJava(t *testing.T) {
	need.Program(t, "javac")
	l := newLeaf(t)
	first, said := runTwin(l, "10.0.0.1")
	if said != "worker 0" {
		t.Fatalf("the first in Java says %q", said)
	}
	second := l.starts(nil, "10.0.0.2")
	if _, said := runTwin(l, "10.0.0.3"); said != "worker 2" || second.Last().Number != 1 {
		t.Fatalf("the second in Java says %q, granted %+v; want 2 and 1", said, second.Last())
	}
	stamps := func() (stamps [3]int64) { // as Java reads them
		_, err := io.WriteString(first.stdin, "\n")
		for line := first.line(); line != "end" && err == nil; line = first.line() {
			var number, ip int
			var stamp int64
			_, err = fmt.Sscanf(line, "node %d 10.0.0.%d 8080 %d", &number, &ip, &stamp)
			if err == nil && number == ip-1 {
				stamps[number] = stamp
			}
		}
		if err != nil || slices.Contains(stamps[:], 0) {
			t.Fatalf("Java reads the timestamps %v, %v", stamps, err)
		}
		return stamps
	}
	before := stamps()
	servertest.Eventually(t, "Java reads that both report", func() bool { now := stamps(); return now[1] > before[1] && now[2] > before[2] })
	if _, said := runTwin(l, "10.0.0.2"); !strings.HasPrefix(said, "refused") {
		t.Errorf("Java says %q to an address that is in use", said)
	}
	l.held("10.0.0.1", "a process of Leaf at 10.0.0.1")

	first.end()
	_, left := l.node("10.0.0.1", 0)
	if g := l.starts(nil, "10.0.0.1").Last(); g.Number != 0 || !g.From.After(left) {
		t.Errorf("granted %+v; want Java's number 0 after %v", g, left)
	}
	need.Must(t, second.Release(background(t), time.Now()))
	if _, said := runTwin(l, "10.0.0.2"); said != "worker 1" {
		t.Fatalf("the successor in Java says %q", said)
	}
}
