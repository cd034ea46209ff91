//go:build linux

package workerzk_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/workerzk"
)

// leaf is a service of Leaf: its name, and a connection to look at its nodes.
type leaf struct {
	*testing.T
	name string
	conn *zk.Conn
	out  logged.Text // of all processes
}

var leaves atomic.Int64

// newLeaf returns a service that never ran.
func newLeaf(t *testing.T) *leaf {
	t.Parallel()
	return &leaf{T: t, name: fmt.Sprintf("or_ders_%d", leaves.Add(1)), conn: ready(t, connect(t, shared(t), 20*time.Second, nil))}
}

// snowflake leases numbers for ids of Leaf's layout.
type snowflake struct{ *lease.Leaser }

func (s snowflake) Lease(ctx context.Context, r lease.Request) (lease.Lease, error) {
	r.Layout = bits.Snowflake().String()
	return s.Leaser.Lease(ctx, r)
}

// start starts a process on port 8080 of ip, on a connection of its own if conn is nil.
func (l *leaf) start(conn *zk.Conn, ip string) (*holdertest.Holder, error) {
	if conn == nil {
		conn = connect(l.T, shared(l.T), 20*time.Second, nil)
	}
	leaser := workerzk.NewLeaf(conn, l.name, 8080, workerzk.LeafConfig{Address: ip, Lease: lease.Config{Node: here, Expiry: 200 * time.Millisecond, Window: time.Minute, Logger: l.out.Logger()}})
	return holdertest.Try(background(l.T), l, snowflake{leaser}, 1023, time.Now)
}

// starts starts a process, which waits while a silent one has its address.
func (l *leaf) starts(conn *zk.Conn, ip string) *holdertest.Holder {
	l.Helper()
	h, err := l.start(conn, ip)
	if err != nil {
		l.Fatal(err)
	}
	return h
}

// held checks that a process does not start, and says why.
func (l *leaf) held(ip string, parts ...string) {
	l.Helper()
	_, err := l.start(nil, ip)
	says(l.T, err, lease.ErrHeld, append(parts, "snowflake/"+l.name)...)
}

func (l *leaf) forever() string { return "/snowflake/" + l.name + "/forever" }

// java makes the node of a process that Leaf in Java has started, as its code does.
func (l *leaf) java(ip string, at time.Time) (path string) {
	l.Helper()
	prepared(l.T, l.conn, "/snowflake/"+l.name+"/uidring") // and so the parent of forever
	l.creates(l.forever(), nil, 0)
	return l.creates(l.forever()+"/"+ip+":8080-", data(ip, at), zk.FlagSequence)
}

func (l *leaf) creates(path string, data []byte, flags int32) string {
	path, err := l.conn.Create(path, data, flags, zk.WorldACL(zk.PermAll))
	if err != nil && !errors.Is(err, zk.ErrNodeExists) {
		l.Fatal(err)
	}
	return path
}

func data(ip string, at time.Time) []byte {
	return fmt.Appendf(nil, `{"ip":%q,"port":"8080","timestamp":%d}`, ip, at.UnixMilli())
}

// node returns the path of the node of an address and a number, and its timestamp.
func (l *leaf) node(ip string, number int64) (path string, stamp time.Time) {
	l.Helper()
	path = fmt.Sprintf("%s/%s:8080-%010d", l.forever(), ip, number)
	text, _, err := l.conn.Get(path)
	var ms int64
	if _, err2 := fmt.Sscanf(string(text), `{"ip":"`+ip+`","port":"8080","timestamp":%d}`, &ms); err != nil || err2 != nil {
		l.Fatalf("node %s is %q, %v, %v", path, text, err, err2)
	}
	return path, time.UnixMilli(ms)
}

// sets writes a node as Java does.
func (l *leaf) sets(path string, data []byte) {
	if _, err := l.conn.Set(path, data, -1); err != nil {
		l.Error(err)
	}
}

// reports has a process in Java report again and again while f runs.
func (l *leaf) reports(path string, at time.Time, f func()) {
	done := make(chan struct{})
	var reporting sync.WaitGroup
	reporting.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
				l.sets(path, data("10.0.0.1", at))
			}
		}
	})
	f()
	close(done)
	reporting.Wait()
}

// covered checks that a process in Java would not start while ids of a grant may be made.
func (l *leaf) covered(ip string, h *holdertest.Holder) {
	l.Helper()
	g := h.Last()
	if path, stamp := l.node(ip, g.Number); !g.Held || stamp.Before(g.Until) {
		l.Errorf("node %s has the timestamp %v; granted %+v", path, stamp, g)
	}
}

// TestLeafNumbers: the number is that of the node's name. The number 0 is left to a
// process in Java that found no node when it started.
func TestLeafNumbers(t *testing.T) {
	l := newLeaf(t)
	var starting sync.WaitGroup
	holders := make([]*holdertest.Holder, 6)
	for i := range holders {
		starting.Go(func() {
			var err error
			if holders[i], err = l.start(nil, fmt.Sprintf("10.0.0.%d", i)); err != nil {
				t.Error(err)
			}
		})
	}
	starting.Wait()
	for i, h := range holders {
		if l.covered(fmt.Sprintf("10.0.0.%d", i), h); h.Last().Number == 0 {
			t.Error("number 0 was given")
		}
	}
	for range 3 {
		holders[0].Renew(t)
		l.covered("10.0.0.0", holders[0])
	}
}

// TestLeafRestart: after a clean end a process starts at once, where the one before
// ended. So does a process in Java.
func TestLeafRestart(t *testing.T) {
	l := newLeaf(t)
	conn := connect(t, shared(t), 20*time.Second, nil)
	h := l.starts(conn, "10.0.0.1")
	for range 6 {
		next := h.Last().From.Add(time.Second)
		need.Must(t, h.Release(background(t), next))
		if _, stamp := l.node("10.0.0.1", 1); !stamp.Equal(next) {
			t.Errorf("timestamp %v, want %v", stamp, next)
		}
		h = l.starts(conn, "10.0.0.1")
		if g := h.Last(); !g.From.Equal(next) || g.Number != 1 {
			t.Errorf("granted %+v; want number 1 from %v", g, next)
		}
	}
}

// TestLeafSameAddress: of two processes with one address, the second does not start while the
// first lives. When the first is cut off, the second waits until its session has expired, and
// starts where the first one's time ends.
func TestLeafSameAddress(t *testing.T) {
	l := newLeaf(t)
	conn, w := wired(t, shared(t), 4*time.Second)
	first := l.starts(conn, "172.17.0.1")
	for range 2 { // the first start that fails leaves the living holder's node
		l.held("172.17.0.1", here.Host)
	}
	first.Renew(t)
	first.Kept(t)
	w.cut(true)
	const waits = "waiting until"
	before := l.out.Count(waits)
	second := l.starts(nil, "172.17.0.1")
	if n := l.out.Count(waits) - before; n != 1 {
		t.Errorf("%d lines say that the start waits, want one", n)
	}
	if a, b := first.Last(), second.Last(); b.Number != a.Number || b.From.Before(a.Until) {
		t.Errorf("granted %+v, and then %+v", a, b)
	}
	w.cut(false)
	if err := first.Loss(t); !errors.Is(err, lease.ErrLost) {
		t.Errorf("%v; want ErrLost", err)
	}
	second.Renew(t)
	second.Kept(t)
}

// TestLeafReset: whoever deletes Leaf's nodes gets numbers from 0 on. Holders of the old
// numbers stop, and the next ones begin where the reserved time ends.
func TestLeafReset(t *testing.T) {
	l := newLeaf(t)
	first := l.starts(nil, "10.0.0.1")
	deletes(t, l.conn, l.forever()+"/uidring:0-0000000000", l.forever()+"/10.0.0.1:8080-0000000001")
	if err := first.Loss(t); !errors.Is(err, lease.ErrRewound) || !errors.Is(err, lease.ErrLost) {
		t.Errorf("%v; want ErrRewound and ErrLost", err)
	}
	first.Await(t, "the holder says what to do", func(g lease.Grant) bool {
		return !g.Held && g.Err != nil && strings.Contains(g.Err.Error(), "number 1") && strings.Contains(g.Err.Error(), "restart")
	})
	deletes(t, l.conn, l.forever())
	second := l.starts(nil, "10.0.0.2")
	if a, b := first.History()[0], second.Last(); b.Number != a.Number || b.From.Before(a.Until) {
		t.Errorf("granted %+v, and after the nodes were deleted %+v", a, b)
	}
}

// TestLeafAfterJava: a number of a process in Java is held while the process reports. The
// next holder begins above all that it can have stamped.
func TestLeafAfterJava(t *testing.T) {
	l := newLeaf(t)
	ahead, behind := time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	path, _ := l.java("10.0.0.1", ahead), l.java("10.0.0.2", behind)
	l.reports(path, ahead, func() { l.held("10.0.0.1", "a process of Leaf at 10.0.0.1", "8080") })
	began := time.Now()
	first, second := l.starts(nil, "10.0.0.1"), l.starts(nil, "10.0.0.2")
	if a, b := first.Last(), second.Last(); a.Number != 0 || a.From.Sub(ahead) < 9*time.Second || b.Number != 1 || b.From.Before(began) {
		t.Errorf("granted %+v and %+v; want 0 from 10s after %v, and 1 from %v", a, b, ahead, began)
	}
	l.covered("10.0.0.1", first)
	l.sets(path, data("10.0.0.1", ahead.Add(time.Minute))) // the process in Java goes on
	if err := first.Loss(t); !errors.Is(err, lease.ErrLost) || errors.Is(err, lease.ErrRewound) {
		t.Errorf("%v; want ErrLost alone", err)
	}
	l.reports(path, ahead.Add(time.Minute), func() { l.held("10.0.0.1", "a process of Leaf") })
	before := first.History()[0]
	first.Await(t, "it takes the number again", func(g lease.Grant) bool { return g.From.After(before.Until) })
	l.covered("10.0.0.1", first)
	second.Kept(t)
}

// TestLeafUntil: a process in Java may have stamped all of the millisecond that its clock
// shows now. The next holder begins after that.
func TestLeafUntil(t *testing.T) {
	l := newLeaf(t)
	for number, at := range []time.Time{time.Now().Add(-time.Hour), time.Now().Add(time.Hour)} {
		ip := fmt.Sprintf("10.0.0.%d", number)
		path := l.java(ip, at)
		s := workerzk.LeafStore(l.conn, l.name, 8080, workerzk.LeafConfig{Address: ip})
		if got, err := s.Assign(background(t), 9); got != int64(number) || err != nil {
			t.Fatalf("number %d, %v; want %d", got, err, number)
		}
		row, _, err := s.Read(background(t), int64(number), time.Minute)
		_, report, err1 := l.conn.Get(path)
		_, now, err2 := l.conn.Get("/snowflake/" + l.name + "/uidring") // which a read writes, to know ZooKeeper's clock
		if err := errors.Join(err, err1, err2); err != nil || row == nil {
			t.Fatal(row, err)
		}
		if shows := max(report.Mtime, at.UnixMilli()) + now.Mtime - report.Mtime; row.Until != shows+1 {
			t.Errorf("%+v; want it reserved until %d, since Java's clock shows %d", row, shows+1, shows)
		}
	}
}

// TestLeafStore: a report of another process is a write of the row, whenever it comes. A
// number above the greatest is refused. Of two nodes of one address, the lesser number counts.
func TestLeafStore(t *testing.T) {
	l := newLeaf(t)
	conn, w := wired(t, shared(t), 20*time.Second)
	path, _ := l.java("10.0.0.1", time.UnixMilli(0)), l.java("10.0.0.1", time.UnixMilli(0))
	s := workerzk.LeafStore(conn, l.name, 8080, workerzk.LeafConfig{Address: "10.0.0.1"})
	number, err := s.Assign(background(t), 0)
	if err := errors.Join(err, s.Prepare(background(t), slog.Default())); number != 0 || err != nil {
		t.Fatalf("number %d, %v; want the least", number, err)
	}
	_, err = workerzk.LeafStore(conn, l.name, 8080, workerzk.LeafConfig{Address: "10.0.0.2"}).Assign(background(t), 1)
	says(t, err, lease.ErrExhausted, "10.0.0.2:8080-0000000002 has number 2, above 1", "more bits", "another name", l.forever())
	report := func() { l.sets(path, data("10.0.0.1", time.Now())) }
	free := read(t, s, leasestore.StateFree)
	report()
	swap(t, s, free, "a", leasestore.Acquire, false)
	swap(t, s, read(t, s, leasestore.StateHeld), "b", leasestore.Acquire, true)
	w.between.Store(&between{`"token":"c"`, report})
	swap(t, s, "b", "c", leasestore.Extend, false)
	swap(t, s, read(t, s, leasestore.StateHeld), "d", leasestore.Acquire, true)
	rows := workerzk.NewStore(l.conn, workerzk.Config{Path: "/snowflake/" + l.name + "/uidring"})
	swap(t, rows, "d", "e", leasestore.Release, true) // as by hand
	if token := read(t, s, leasestore.StateFree); token != "e" {
		t.Errorf("token %s, want the last write of the row", token)
	}
	w.between.Store(&between{`"token":"f"`, func() { swap(t, rows, "e", "g", leasestore.Acquire, true) }})
	swap(t, s, "e", "f", leasestore.Release, false)
	for _, text := range []string{"x", `{"timestamp":-1}`, `{"timestamp":9000000000000000000}`} {
		l.sets(path, []byte(text))
		says(t, second(s.Read(background(t), 0, time.Minute)), nil, path, "timestamp from 0")
	}
}

// TestLeafOptions: the address is the one from which ZooKeeper is reached. Reports come as
// often as Java's. The number and the layout are Leaf's, and the nodes have the access list.
func TestLeafOptions(t *testing.T) {
	l := newLeaf(t)
	acl := zk.WorldACL(zk.PermAll &^ zk.PermAdmin)
	leaser := workerzk.NewLeaf(l.conn, l.name, 8080, workerzk.LeafConfig{ACL: acl, Lease: lease.Config{Logger: slog.New(slog.DiscardHandler)}})
	if g := holdertest.Take(t, snowflake{leaser}, 9).Last(); g.Number != 1 {
		t.Errorf("granted %+v; want number 1", g)
	}
	path, _ := l.node("127.0.0.1", 1)
	row := "/snowflake/" + l.name + "/uidring/number/0000000000000000001"
	for _, path := range []string{path, row, row + "/alive"} {
		if got, _, err := l.conn.GetACL(path); err != nil || !slices.Equal(got, acl) {
			t.Errorf("%s: %v, %v; want %v", path, got, err, acl)
		}
	}
	s := workerzk.LeafStore(l.conn, l.name+"_new", 8080, workerzk.LeafConfig{}) // remembers no layout yet
	need.Must(t, s.Prepare(background(t), slog.New(slog.DiscardHandler)))
	for i, layout := range []bits.Layout{bits.Registry(), bits.Snowflake()} {
		err := lease.Request{Layout: layout.String()}.CheckLayout(background(t), leasestore.Terms{}, s.SwapLayout)
		if errors.Is(err, lease.ErrLayout) != (i == 0) || i > 0 && err != nil {
			t.Errorf("layout %v: %v; want Java's alone", layout, err)
		}
	}
	before := new(zk.Stat)
	servertest.Eventually(t, "two reports have less than 10s between them", func() bool {
		_, now, err := l.conn.Get(path)
		need.Must(t, err)
		defer func() { before = now }()
		return now.Version > before.Version && now.Mtime-before.Mtime < 10_000
	})
}

// TestLeafRefused: bad input is refused, with all faults at once.
func TestLeafRefused(t *testing.T) {
	for _, port := range []int{0, 65536} {
		config := workerzk.LeafConfig{Address: "host", Lease: lease.Config{Window: -1, Assigner: uid.NewStaticWorker(7)}}
		_, err := workerzk.NewLeaf(nil, "a/b", port, config).Lease(t.Context(), lease.Request{Limit: -1})
		says(t, err, lease.ErrConfig, "conn is nil", `name is "a/b"`, fmt.Sprint("port is ", port), `Address is "host"`, "Lease.Assigner", "Window is", "Limit is -1", "Clock")
		says(t, config.Validate(), lease.ErrConfig, `Address is "host"`, "Lease.Assigner", "Window is")
	}
}
