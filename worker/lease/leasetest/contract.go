package leasetest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uidring/uidring/worker/lease"
)

var (
	node  = lease.Node{Host: "billing-ä-7", Port: "8080", Type: lease.NodeActual}
	other = lease.Node{Host: "orders-1", Port: "80", Type: lease.NodeContainer}
)

// bench is a store with helpers for its tests.
type bench struct {
	*testing.T
	lease.Store
}

// acquire is the write of a new holder.
func acquire(number int64, token string, until int64) lease.Write {
	return lease.Write{Number: number, Token: token, Until: until, Change: lease.Acquire, Node: node, Expiry: time.Hour, Within: within}
}

// change returns w with another change.
func change(w lease.Write, to lease.Change) lease.Write {
	w.Change = to
	return w
}

func (b bench) inserts(w lease.Write, want bool) {
	b.Helper()
	b.expect(fmt.Sprintf("insert %+v", w), want, func(ctx context.Context) (bool, error) { return b.Insert(ctx, w) })
}

func (b bench) swaps(old string, w lease.Write, want bool) {
	b.Helper()
	b.expect(fmt.Sprintf("swap %s for %+v", old, w), want, func(ctx context.Context) (bool, error) { return b.Swap(ctx, old, w) })
}

func (b bench) expect(what string, want bool, write func(context.Context) (bool, error)) {
	b.Helper()
	if done, err := write(context.Background()); done != want || err != nil {
		b.Fatalf("%s: %t, %v; want %t", what, done, err, want)
	}
}

// row returns a row that must exist, and checks the fields that the protocol reads.
func (b bench) row(number int64, token string, until int64, state lease.State) lease.Row {
	b.Helper()
	row, now, err := b.Read(context.Background(), number, time.Hour)
	if err != nil || row == nil {
		b.Fatalf("read %d: %v, %v", number, row, err)
	}
	if row.Number != number || row.Token != token || row.Until != until || row.State != state {
		b.Fatalf("read %d: %+v; want token %s, until %d, %s", number, *row, token, until, state)
	}
	if state == lease.StateFree && row.Heartbeat != 0 || row.Heartbeat > now {
		b.Fatalf("read %d: %+v at %d", number, *row, now)
	}
	return *row
}

func (b bench) view(within lease.Bounds) lease.View {
	b.Helper()
	view, err := b.Look(context.Background(), within, time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	return view
}

// empty: the answers of a store without rows.
func (s Suite) empty(t *testing.T, open Opener) {
	b := bench{t, open(t)}
	if b.String() == "" {
		t.Error("the store has no name")
	}
	row, now, err := b.Read(context.Background(), 7, time.Hour)
	if row != nil || err != nil {
		t.Errorf("read: %v, %v", row, err)
	}
	view := b.view(lease.Bounds{From: 3, To: 9})
	if view.Next != 3 || len(view.Free) != 0 || view.Held != 0 || (view.Now == 0) != (now == 0) {
		t.Errorf("look: %+v at %d; want 3 to be the next number", view, now)
	}
	if now != 0 && time.Since(time.UnixMilli(now)).Abs() > time.Hour {
		t.Errorf("the store's clock shows %d", now)
	}
	rows, err := b.List(context.Background(), 0, time.Hour)
	if len(rows) != 0 || err != nil {
		t.Errorf("list: %v, %v", rows, err)
	}
	b.swaps("", acquire(7, "a", 1), false)
}

// insert: a row is made once, and has all that was written.
func (s Suite) insert(t *testing.T, open Opener) {
	b := bench{t, open(t)}
	long := "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	b.inserts(acquire(7, long, 1<<60), true)
	row := b.row(7, long, 1<<60, lease.StateHeld)
	if row.Node != node {
		t.Errorf("%+v; want %+v", row.Node, node)
	}
	b.inserts(acquire(7, "b", 1), false)
	b.inserts(acquire(within.To, "c", 0), true)
	b.row(7, long, 1<<60, lease.StateHeld)
	bench{t, open(t)}.row(within.To, "c", 0, lease.StateHeld)
}

// swap: a write is done only if it names the row's token. It replaces the row, except
// that Extend keeps the node.
func (s Suite) swap(t *testing.T, open Opener) {
	a, b := bench{t, open(t)}, bench{t, open(t)}
	a.inserts(acquire(7, "a", 100), true)
	b.swaps("x", acquire(7, "b", 200), false)
	b.swaps("", acquire(7, "b", 200), false)
	b.swaps("A", acquire(7, "b", 200), false) // case matters
	a.row(7, "a", 100, lease.StateHeld)
	taken := acquire(7, "b", 200)
	taken.Node = other
	b.swaps("a", taken, true)
	if row := a.row(7, "b", 200, lease.StateHeld); row.Node != other {
		t.Errorf("%+v; want %+v", row.Node, other)
	}
	a.swaps("a", acquire(7, "c", 300), false)
	b.swaps("b", change(acquire(7, "d", 400), lease.Extend), true)
	if row := a.row(7, "d", 400, lease.StateHeld); row.Node != other {
		t.Errorf("%+v; want %+v", row.Node, other)
	}
	b.swaps("d", change(acquire(7, "e", 350), lease.Release), true)
	a.row(7, "e", 350, lease.StateFree)
	b.swaps("d", change(acquire(7, "f", 500), lease.Extend), false)
	a.swaps("e", acquire(7, "g", 600), true)
	b.row(7, "g", 600, lease.StateHeld)
	b.swaps("g", change(acquire(8, "h", 1), lease.Extend), false) // another number
}

// fresh: a number below the next one is not given as a fresh number, only if it is chosen.
func (s Suite) fresh(t *testing.T, open Opener) {
	b := bench{t, open(t)}
	fresh := func(number int64, token string) lease.Write {
		w := acquire(number, token, 1)
		w.Fresh = true
		return w
	}
	b.inserts(fresh(0, "a"), true)
	b.inserts(fresh(0, "b"), false)
	b.inserts(acquire(5, "c", 1), true)
	if view := b.view(within); view.Next != 6 || view.Held != 2 {
		t.Errorf("%+v; want 6 to be the next number, and two held", view)
	}
	b.inserts(fresh(3, "d"), false)
	b.inserts(acquire(3, "e", 1), true)
	b.inserts(fresh(6, "f"), true)
	if view := b.view(within); view.Next != 7 {
		t.Errorf("%+v; want 7 to be the next number", view)
	}
}

// once: of several writes at the same time, one succeeds.
func (s Suite) once(t *testing.T, open Opener) {
	const writers = 6
	stores := make([]lease.Store, writers)
	for i := range stores {
		stores[i] = open(t)
	}
	for round := range 10 {
		for _, old := range []string{"", fmt.Sprint("first", round)} {
			var won, failed atomic.Int64
			var writing sync.WaitGroup
			for i, store := range stores {
				writing.Go(func() {
					w := acquire(int64(round), fmt.Sprintf("%s-%d-%d", old, round, i), int64(i))
					write := func(ctx context.Context) (bool, error) { return store.Insert(ctx, w) }
					if old != "" {
						write = func(ctx context.Context) (bool, error) { return store.Swap(ctx, old, w) }
					}
					done, err := write(context.Background())
					switch {
					case err != nil:
						failed.Add(1)
					case done:
						won.Add(1)
					}
				})
			}
			writing.Wait()
			if won.Load() > 1 || won.Load() == 0 && failed.Load() == 0 {
				t.Fatalf("round %d: %d writers of %d succeeded, %d failed; want one", round, won.Load(), writers, failed.Load())
			}
			if old == "" { // make the token known for the swaps
				b := bench{t, stores[0]}
				row, _, err := b.Read(context.Background(), int64(round), time.Hour)
				if err != nil || row == nil {
					t.Fatalf("read: %v, %v", row, err)
				}
				b.swaps(row.Token, acquire(int64(round), fmt.Sprint("first", round), 1), true)
			}
		}
	}
}

// cancelled: a call fails once its context has ended.
func (s Suite) cancelled(t *testing.T, open Opener) {
	store := open(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, look := store.Look(ctx, within, time.Hour)
	_, _, read := store.Read(ctx, 7, time.Hour)
	_, insert := store.Insert(ctx, acquire(7, "a", 1))
	_, swap := store.Swap(ctx, "a", acquire(7, "b", 1))
	_, list := store.List(ctx, 0, time.Hour)
	for name, err := range map[string]error{"Look": look, "Read": read, "Insert": insert, "Swap": swap, "List": list} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// layout: the store remembers one layout, and replaces it only if the caller names it.
func (s Suite) layout(t *testing.T, open Opener) {
	a, b := open(t), open(t)
	long := "1/1/61,epoch=2010-11-04T01:42:54.657123456Z,unit=2562047h47m16.854775807s"
	for _, step := range []struct{ old, layout, want string }{
		{"first", "second", ""}, {"", "first", "first"}, {"", "second", "first"}, {"second", "third", "first"},
		{"first", "first", "first"}, {"first", long, long}, {long[:64], "third", long}, {"", "first", long}, {long, "second", "second"},
	} {
		remembered, err := a.SwapLayout(context.Background(), step.old, step.layout)
		if err != nil || remembered != step.want {
			t.Fatalf("SwapLayout(%q, %q) = %q, %v; want %q", step.old, step.layout, remembered, err, step.want)
		}
		a, b = b, a
	}
	if view := (bench{t, a}).view(within); view.Next != within.From || len(view.Free) != 0 {
		t.Errorf("look: %+v; want no row", view)
	}
	if rows, err := a.List(context.Background(), 0, time.Hour); len(rows) != 0 || err != nil {
		t.Errorf("list: %v, %v; want no row", rows, err)
	}
	bench{t, a}.inserts(acquire(within.From, "a", 1), true)

	// Of several at once, one is the first, and all learn which.
	open = s.Open(t)
	var starts sync.WaitGroup
	var remembered [6]string
	for i := range remembered {
		store := open(t)
		starts.Go(func() {
			var err error
			if remembered[i], err = store.SwapLayout(context.Background(), "", fmt.Sprint("layout ", i)); err != nil {
				t.Error(err)
			}
		})
	}
	starts.Wait()
	for _, text := range remembered {
		if text == "" || text != remembered[0] {
			t.Fatalf("starts at once: %q, want one layout for all", remembered)
		}
	}
}
