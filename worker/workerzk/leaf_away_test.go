//go:build linux

package workerzk_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/servertest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/workerzk"
)

// write writes a file of a test.
func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (l *leaf) writes(number int64, stamp time.Time, address, name string) {
	l.Helper()
	if err := os.MkdirAll(strings.TrimSuffix(l.file, "workerID.properties"), 0o700); err != nil {
		l.Fatal(err)
	}
	write(l.T, l.file, fmt.Sprintf("workerID=%d\ntimestamp=%d\naddress=%s\nname=%s\n", number, stamp.UnixMilli(), address, name))
}

// away returns a connection to a ZooKeeper that is away, with its wire, and the config of a
// process that does not wait for ZooKeeper for long.
func (l *leaf) away() (*zk.Conn, *wire, workerzk.LeafConfig) {
	conn, w := wired(l.T, shared(l.T), 20*time.Second)
	w.cut(true)
	config := l.config("10.0.0.1")
	config.Wait = 100 * time.Millisecond
	return conn, w, config
}

// TestLeafWithoutZooKeeper: a start uses the file while ZooKeeper is away. When it is
// back, the clock is reported, which Leaf never does then.
func TestLeafWithoutZooKeeper(t *testing.T) {
	t.Parallel()
	l := newLeaf(t)
	l.java("10.0.1.1:8080", data("10.0.1.1", time.Now()))
	h := l.starts("10.0.0.1", time.Now)
	if err := h.Release(background(t), time.Now()); err != nil {
		t.Fatal(err)
	}
	_, before := l.node("10.0.0.1:8080")
	conn, w, config := l.away()
	h = l.on(conn, config, time.Now)
	if g := h.Last(); !g.Held || g.Number != 1 || g.From.UnixMilli() <= before {
		t.Errorf("granted %+v; want number 1 after %d", g, before)
	}
	text, _ := os.ReadFile(l.file)
	servertest.Eventually(t, "the file is written while ZooKeeper is away", func() bool { now, _ := os.ReadFile(l.file); return string(now) != string(text) })
	w.cut(false)
	servertest.Eventually(t, "the clock is reported", func() bool { _, stamp := l.node("10.0.0.1:8080"); return stamp > before })
	if g := h.Last(); !g.Held || g.Number != 1 {
		t.Errorf("granted %+v; want number 1 as before", g)
	}
}

// TestLeafFileRefused: a file that may not be this process's last word is refused.
func TestLeafFileRefused(t *testing.T) {
	t.Parallel()
	l := newLeaf(t)
	conn, _, config := l.away()
	ok := func() { l.writes(5, time.Now(), "10.0.0.1:8080", l.name) }
	for want, prepare := range map[string]func(){
		"no such file":         func() { _ = os.Remove(l.file) },
		"ahead of the clock":   func() { l.writes(5, time.Now().Add(time.Hour), "10.0.0.1:8080", l.name) },
		`address "10.0.0.2`:    func() { l.writes(5, time.Now(), "10.0.0.2:8080", l.name) },
		`name "other"`:         func() { l.writes(5, time.Now(), "10.0.0.1:8080", "other") },
		"number 5000, above":   func() { l.writes(5000, time.Now(), "10.0.0.1:8080", l.name) },
		`timestamp is ""`:      func() { ok(); write(t, l.file, "workerID=5\n") }, // Leaf's own
		`workerID is "x"`:      func() { ok(); write(t, l.file, "workerID=x\ntimestamp=1\n") },
		"context deadline exc": ok,
	} {
		prepare()
		ctx, config := background(t), config
		if strings.HasPrefix(want, "context") { // a context that ends first
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
			defer cancel()
			<-ctx.Done()
		}
		_, err := l.start(ctx, conn, config, 1023, time.Now)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), "workerzk: ") != 1 {
			t.Errorf("%v; want it to say %q", err, want)
		}
	}
	ok()
	if g := l.on(conn, config, time.Now).Last(); g.Number != 5 {
		t.Fatalf("granted %+v; want number 5", g)
	}
}

// TestLeafFileIsWrong: the number of the file is another's by now.
func TestLeafFileIsWrong(t *testing.T) {
	t.Parallel()
	l := newLeaf(t)
	l.writes(0, time.Now(), "10.0.0.1:8080", l.name)
	l.java("10.0.1.1:8080", data("10.0.1.1", time.Now()))
	conn, w, config := l.away()
	h := l.on(conn, config, time.Now)
	w.cut(false)
	servertest.Eventually(t, "the number is taken away", func() bool { return h.Lost(lease.ErrRewound) })
}

// TestLeafFileIsRewritten: Leaf never writes its file again once the folder is there.
// Who reads the file meanwhile reads all of the old one or all of the new one.
func TestLeafFileIsRewritten(t *testing.T) {
	t.Parallel()
	l := newLeaf(t)
	l.writes(900, time.Now().Add(-time.Hour), "10.0.0.1:8080", l.name)
	l.starts("10.0.0.1", time.Now)
	file, err := os.Open(l.file)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text := func() string {
		text, err := io.ReadAll(io.NewSectionReader(file, 0, 1<<20))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	first := text()
	if !strings.HasPrefix(first, "workerID=0\n") || !strings.HasSuffix(first, "\nname="+l.name+"\n") {
		t.Errorf("%q; want number 0, and all lines", first)
	}
	servertest.Eventually(t, "the timestamp is written again", func() bool {
		now, err := os.ReadFile(l.file)
		return err == nil && string(now) != first
	})
	if now := text(); now != first {
		t.Errorf("the old file is %q, and was %q; want a new one in its place", now, first)
	}
}

// TestLeafSessionExpiry: the ephemeral node is made again, and the number is kept.
func TestLeafSessionExpiry(t *testing.T) {
	t.Parallel()
	l := newLeaf(t)
	conn, w := wired(t, shared(t), 400*time.Millisecond)
	h := l.on(conn, l.config("10.0.0.1"), time.Now)
	alive := func() bool {
		exists, _, err := l.conn.Exists("/snowflake/" + l.name + "/temporary/10.0.0.1:8080")
		if err != nil {
			t.Fatal(err)
		}
		return exists
	}
	w.cut(true)
	servertest.Eventually(t, "the session expires", func() bool { return !alive() })
	w.cut(false)
	servertest.Eventually(t, "the address is taken again", alive)
	if g := h.Last(); !g.Held || g.Number != 0 {
		t.Errorf("granted %+v; want number 0 as before", g)
	}
}

// TestLeafCutDuringReport: a report whose answer was lost is this process's own.
func TestLeafCutDuringReport(t *testing.T) {
	t.Parallel()
	l := newLeaf(t)
	conn, w := wired(t, shared(t), 20*time.Second)
	h := l.on(conn, l.config("10.0.0.1"), time.Now)
	for range 3 {
		_, before := l.node("10.0.0.1:8080")
		w.last.Store(`"timestamp"`) // nothing is received once a report is sent
		servertest.Eventually(t, "a report has no answer", w.deaf.Load)
		w.cut(false)
		servertest.Eventually(t, "the clock is reported", func() bool { _, stamp := l.node("10.0.0.1:8080"); return stamp > before+50 })
	}
	if g := h.Last(); !g.Held || g.Number != 0 {
		t.Errorf("granted %+v; want number 0 as before", g)
	}
}

// TestLeafCutDuringCreate: a node whose creator had no answer is found.
func TestLeafCutDuringCreate(t *testing.T) {
	t.Parallel()
	l := newLeaf(t)
	conn, w := wired(t, shared(t), 20*time.Second)
	w.last.Store(`"timestamp"`)
	go func() {
		for !w.deaf.Load() {
			time.Sleep(time.Millisecond)
		}
		for {
			if names, _, _ := l.conn.Children(l.forever()); len(names) > 0 {
				w.cut(false)
				return
			}
		}
	}()
	h := l.on(conn, l.config("10.0.0.1"), time.Now)
	if name, _ := l.node("10.0.0.1:8080"); name != "10.0.0.1:8080-0000000000" || h.Last().Number != 0 {
		t.Errorf("node %s, granted %+v", name, h.Last())
	}
}

// TestLeafGenerators: generators take the number. They check Leaf's 41 bits of time, and
// a clock that steps back does not have them spin.
func TestLeafGenerators(t *testing.T) {
	t.Parallel()
	l := newLeaf(t)
	layout := bits.Snowflake() // which is Leaf's
	leaser := func(ip string) *workerzk.LeafLeaser {
		return workerzk.Leaf(connect(t, shared(t), 20*time.Second, nil), l.name, 8080, l.config(ip))
	}
	cached, err := uid.NewCached(background(t), leaser("10.0.0.1"), uid.Config{Layout: layout})
	if err != nil {
		t.Fatal(err)
	}
	defer cached.Close()
	clock := newClock(time.Now())
	gen, err := uid.NewDefault(background(t), leaser("10.0.0.2"), uid.DefaultConfig{Layout: layout, Now: clock.now})
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close()
	for _, next := range []func() (uid.ID, error){cached.Next, gen.Next} {
		if _, err := next(); err != nil {
			t.Error(err)
		}
	}
	clock.add(-time.Hour)
	if _, err := gen.Next(); !errors.Is(err, uid.ErrClockBackward) {
		t.Errorf("%v; want ErrClockBackward", err)
	}
	clock.add(100 * 365 * 24 * time.Hour)
	if id, err := gen.Next(); err == nil {
		t.Errorf("id %v beyond 41 bits", id)
	}
}

// stepped is a clock that steps as it is told.
type stepped struct{ nanos atomic.Int64 }

func newClock(at time.Time) *stepped {
	c := new(stepped)
	c.nanos.Store(at.UnixNano())
	return c
}

func (c *stepped) now() time.Time      { return time.Unix(0, c.nanos.Load()) }
func (c *stepped) add(d time.Duration) { c.nanos.Add(int64(d)) }
