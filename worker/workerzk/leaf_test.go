//go:build linux

package workerzk_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/servertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/workerzk"
)

// TestLeafSharesNodes: a process finds the node that Leaf in Java made for its address,
// and makes one as Leaf does if there is none.
func TestLeafSharesNodes(t *testing.T) {
	t.Parallel()
	l := newLeaf(t)
	l.java("10.0.0.9:8080", data("10.0.0.9", time.Now()))
	l.java("web-1.example:80", data("web-1.example", time.Now()))
	before := time.Now()
	l.java("10.0.0.1:8080", data("10.0.0.1", before))
	if g := l.starts("10.0.0.1", time.Now).Last(); !g.Held || g.Number != 2 || !g.Until.IsZero() || g.Fresh || g.From.Before(before.Truncate(time.Millisecond)) {
		t.Errorf("granted %+v; want number 2 without end, after %v", g, before)
	}
	if g := l.starts("10.0.0.2", time.Now).Last(); g.Number != 3 || !g.From.IsZero() {
		t.Errorf("granted %+v; want number 3", g)
	}
	if name, stamp := l.node("10.0.0.2:8080"); name != "10.0.0.2:8080-0000000003" || stamp < before.UnixMilli() {
		t.Errorf("node %s with timestamp %d", name, stamp)
	}
	_, first := l.node("10.0.0.1:8080")
	servertest.Eventually(t, "the clock is reported", func() bool { _, stamp := l.node("10.0.0.1:8080"); return stamp > first })
}

// TestLeafClockIsChecked: Leaf throws the fault of its clock where it catches all, and
// starts from the file.
func TestLeafClockIsChecked(t *testing.T) {
	t.Parallel()
	l := newLeaf(t)
	h := l.starts("10.0.0.1", time.Now)
	if err := h.Release(background(t), time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(l.file); err != nil {
		t.Fatal(err)
	}
	l.fails("10.0.0.1", shifted(-time.Hour), lease.ErrSkew, l.forever()+"/10.0.0.1:8080-0000000000", "ahead of the clock")
	// The file may know more than the node.
	if err := os.WriteFile(l.file, fmt.Appendf(nil, "workerID=0\ntimestamp=%d\naddress=10.0.0.1:8080\nname=%s\n",
		time.Now().Add(time.Hour).UnixMilli(), l.name), 0o600); err != nil {
		t.Fatal(err)
	}
	l.fails("10.0.0.1", time.Now, lease.ErrSkew, l.file, "ahead of the clock")
}

// TestLeafWaitsForTheClock: a timestamp that lies a little ahead is waited for.
func TestLeafWaitsForTheClock(t *testing.T) {
	t.Parallel()
	l := newLeaf(t)
	ahead := time.Now().Add(time.Second)
	l.java("10.0.0.1:8080", data("10.0.0.1", ahead))
	g := l.starts("10.0.0.1", time.Now).Last()
	if time.Now().Before(ahead.Truncate(time.Millisecond)) || !g.From.After(ahead.Truncate(time.Millisecond)) {
		t.Errorf("granted %+v at %v; want it after %v", g, time.Now(), ahead)
	}
}

// TestLeafFirstStart: who starts first takes number 0 in Leaf, whatever its node's
// number is, and two may be first.
func TestLeafFirstStart(t *testing.T) {
	t.Parallel()
	const processes = 6
	l := newLeaf(t)
	numbers := make([]int64, processes)
	var starting sync.WaitGroup
	for i := range processes {
		config := l.config(fmt.Sprintf("10.0.0.%d", i))
		config.File = filepath.Join(t.TempDir(), "file")
		starting.Go(func() {
			h, err := l.start(background(t), nil, config, 1023, time.Now)
			if err != nil {
				t.Error(err)
				return
			}
			numbers[i] = h.Last().Number
		})
	}
	starting.Wait()
	given := map[int64]bool{}
	for i, n := range numbers {
		name, _ := l.node(fmt.Sprintf("10.0.0.%d:8080", i))
		if given[n] || !strings.HasSuffix(name, fmt.Sprintf("-%010d", n)) {
			t.Errorf("numbers %v, node %s", numbers, name)
		}
		given[n] = true
	}
}

// TestLeafSameAddress: hosts whose first address is the same, such as a bridge's, have
// one number in Leaf. Here the second does not start. If a Leaf process in Java takes
// the same address, the first reports it.
func TestLeafSameAddress(t *testing.T) {
	t.Parallel()
	l := newLeaf(t)
	h := l.starts("172.17.0.1", time.Now)
	l.fails("172.17.0.1", time.Now, lease.ErrHeld, "172.17.0.1:8080 is alive", "LeafConfig.Address")
	name, _ := l.node("172.17.0.1:8080")
	if g := h.Last(); !g.Held {
		t.Fatalf("granted %+v", g)
	}
	if _, err := l.conn.Set(l.forever()+"/"+name, []byte(data("172.17.0.1", time.UnixMilli(1))), -1); err != nil {
		t.Fatal(err)
	}
	servertest.Eventually(t, "the number is taken away", func() bool { return h.Lost(lease.ErrLost) })
	if err := h.Last().Err; strings.Count(err.Error(), "workerzk") != 1 || !strings.Contains(err.Error(), name) {
		t.Errorf("%v; want it to name the node", err)
	}
}

// TestLeafAddress: the address is the one from which ZooKeeper is reached, not the first
// of the machine.
func TestLeafAddress(t *testing.T) {
	t.Parallel()
	l := newLeaf(t)
	l.starts("", time.Now)
	l.node("127.0.0.1:8080")
}

// TestLeafNodeIsGone: a node that is deleted says that the number may be given again.
func TestLeafNodeIsGone(t *testing.T) {
	t.Parallel()
	l := newLeaf(t)
	h := l.starts("10.0.0.1", time.Now)
	name, _ := l.node("10.0.0.1:8080")
	if err := l.conn.Delete(l.forever()+"/"+name, -1); err != nil {
		t.Fatal(err)
	}
	servertest.Eventually(t, "the number is taken away", func() bool { return h.Lost(lease.ErrRewound) && h.Lost(lease.ErrLost) })
}

// TestLeafNumberAboveMaximum: Leaf does not start, and does not say what to do.
func TestLeafNumberAboveMaximum(t *testing.T) {
	t.Parallel()
	l := newLeaf(t)
	for i := range 3 {
		l.java(fmt.Sprintf("10.0.1.%d:8080", i), data("10.0.1.1", time.Now()))
	}
	for range 2 { // the node is found again
		_, err := l.start(background(t), nil, l.config("10.0.0.1"), 2, time.Now)
		for _, part := range []string{"10.0.0.1:8080-0000000003 has number 3, above 2", "more bits", "delete " + l.forever()} {
			if !errors.Is(err, lease.ErrExhausted) || !strings.Contains(err.Error(), part) {
				t.Errorf("%v; want it to say %q", err, part)
			}
		}
	}
	l.node("10.0.0.1:8080")
}

// TestLeafPeers: the clock is compared with the live peers' mean. Leaf does not; where
// others do, dead peers lower the mean, and one that cannot be read is always right.
func TestLeafPeers(t *testing.T) {
	t.Parallel()
	l := newLeaf(t)
	dead := l.java("10.0.1.1:8080", data("10.0.1.1", time.Now().Add(-24*time.Hour)))
	l.java("10.0.1.2:8080", "x") // cannot be read
	_, stat, err := l.conn.Get(dead)
	if err != nil {
		t.Fatal(err)
	}
	live := l.java("10.0.1.3:8080", data("10.0.1.3", time.Now()))
	servertest.Eventually(t, "the first peer has not reported for a while", func() bool {
		now, err := l.conn.Set(live, []byte(data("10.0.1.3", time.Now())), -1)
		return err == nil && now.Mtime-stat.Mtime > 1200
	})
	stop := make(chan struct{})
	var reporting sync.WaitGroup
	report := func(path, ip string, clock func() time.Time) {
		reporting.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
				}
				if _, err := l.conn.Set(path, []byte(data(ip, clock())), -1); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	defer reporting.Wait()
	defer close(stop)
	report(live, "10.0.1.3", shifted(time.Minute))
	report(l.java("web-1.example:8080", data("web-1.example", time.Now().Add(time.Hour))), "web-1.example", shifted(3*time.Minute))
	const mean = 2 * time.Minute
	l.fails("10.0.0.1", time.Now, lease.ErrSkew, "behind the mean of 2 peers")
	l.fails("10.0.0.1", shifted(time.Hour), lease.ErrSkew, "ahead of the mean of 2 peers")
	if names, _, _ := l.conn.Children(l.forever()); len(names) != 4 {
		t.Errorf("nodes %v; want none of the process that did not start", names)
	}
	config := l.config("10.0.0.1")
	config.Threshold = 30 * time.Second // the machine may be slow
	if _, err := l.start(background(t), nil, config, 1023, shifted(mean)); err != nil {
		t.Error(err)
	}
}

// TestLeafRelease: what was stamped ahead of the clock is reported, and the address is
// free at once.
func TestLeafRelease(t *testing.T) {
	t.Parallel()
	l := newLeaf(t)
	h := l.starts("10.0.0.1", time.Now)
	ahead := time.Now().Add(time.Second)
	if err := h.Release(background(t), ahead); err != nil {
		t.Fatal(err)
	}
	if _, stamp := l.node("10.0.0.1:8080"); stamp < ahead.UnixMilli() {
		t.Errorf("timestamp %d, want %d", stamp, ahead.UnixMilli())
	}
	if exists, _, err := l.conn.Exists("/snowflake/" + l.name + "/temporary/10.0.0.1:8080"); exists || err != nil {
		t.Errorf("the ephemeral node: %t, %v", exists, err)
	}
	if g := l.starts("10.0.0.1", time.Now).Last(); g.Number != 0 || !g.From.After(ahead.Truncate(time.Millisecond)) {
		t.Errorf("granted %+v; want number 0 after %v", g, ahead)
	}
}

// TestLeafSpans: a process reports as often as Leaf does, and counts as alive through two
// reports that are lost.
func TestLeafSpans(t *testing.T) {
	if every, lives, _ := workerzk.Leaf(nil, "orders", 8080, workerzk.LeafConfig{}).Spans(); every != 3*time.Second || lives < 3*every {
		t.Errorf("a report every %v, and alive for %v", every, lives)
	}
}

// TestLeafRefused: bad input is refused, with all faults at once.
func TestLeafRefused(t *testing.T) {
	_, err := workerzk.Leaf(nil, "a/b", 0, workerzk.LeafConfig{Address: "host", Threshold: 1, Wait: -1}).Lease(context.Background(), -1, nil, nil)
	for _, part := range []string{"connection is nil", `name "a/b"`, "port 0", `Address "host"`, "Threshold 1ns", "Wait -1ns", "limit -1", "clock"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v; want it to say %q", err, part)
		}
	}
}
