package leasetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

var (
	holder = lease.Node{Host: "billing-ä-7", Port: "8080", Type: lease.NodeActual}
	node   = holder
	other  = leasestore.Node{Host: "orders-1", Port: "80", Type: lease.NodeContainer}
)

var within = leasestore.Range{From: 0, To: 1 << 20}

type bench struct {
	*testing.T
	leasestore.Store // a handle
	suite            Suite
	open             Opener
}

func (b bench) another() bench {
	b.Store = b.open(b.T)
	return b
}

// handles opens n handles.
func (b bench) handles(n int) (stores []leasestore.Store) {
	for range n {
		stores = append(stores, b.open(b.T))
	}
	return stores
}

func (b bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// terms are those of a holder whose config names the range of its numbers, as do all writes.
func terms(layout string) leasestore.Terms {
	return leasestore.Terms{Layout: layout, Chosen: true, Within: within}
}

// write is the write of a holder that counts as alive for an hour.
func write(change leasestore.Change, number int64, token string, until int64) leasestore.Write {
	return leasestore.Write{Number: number, Token: token, Until: until, Change: change, Node: node, Expiry: time.Hour, Within: within, Chosen: true}
}

func (b bench) inserts(w leasestore.Write, want bool) {
	b.Helper()
	if number, done, err := b.Insert(b.Context(), w); number != w.Number || done != want || err != nil {
		b.Fatalf("insert %+v: number %d, %t, %v; want %t", w, number, done, err, want)
	}
}

// fresh inserts a row for a number that was never given, which must be want.
func (b bench) fresh(token string, within leasestore.Range, want int64) {
	b.Helper()
	w := write(leasestore.Acquire, -1, token, 1)
	w.Within, w.Fresh = within, true
	number, done, err := b.Insert(b.Context(), w)
	if number != want || done != (want <= within.To) || err != nil {
		b.Fatalf("insert a fresh number within %+v: %d, %t, %v; want %d", within, number, done, err, want)
	}
	if done {
		b.row(want, token, 1, leasestore.StateHeld)
	}
}

func (b bench) swaps(old string, w leasestore.Write, want bool) {
	b.Helper()
	holdertest.Swaps(b, b.Store, old, w, want)
}

// row returns a row, and checks the fields that the protocol reads.
func (b bench) row(number int64, token string, until int64, state leasestore.State) leasestore.Row {
	b.Helper()
	row, now, err := b.Read(b.Context(), number, time.Hour)
	if err != nil || row == nil {
		b.Fatalf("read %d: %v, %v", number, row, err)
	}
	if row.Number != number || row.Token != token || row.Until != until || row.State != state {
		b.Fatalf("read %d: %+v; want token %s, until %d, %s", number, *row, token, until, state)
	}
	if state == leasestore.StateFree && row.Heartbeat != 0 || row.Heartbeat > now {
		b.Fatalf("read %d: %+v at %d", number, *row, now)
	}
	return *row
}

// views checks what looks show: the next number, how many are held, and which are free, in their
// order. A look that is not full shows the same of up to 64 numbers, but does not count the held.
func (b bench) views(within leasestore.Range, next, held int64, free ...int64) {
	b.Helper()
	for _, full := range []bool{true, false} {
		view, err := b.Look(b.Context(), within, full, time.Hour)
		b.must(err)
		var shown []int64
		for _, row := range view.Free {
			if shown = append(shown, row.Number); row.State == leasestore.StateHeld {
				b.Errorf("look %+v: %+v is held", within, row)
			}
			b.row(row.Number, row.Token, row.Until, leasestore.StateFree)
		}
		if view.Next != next || full && view.Held != held || !slices.Equal(shown, free) {
			b.Errorf("look %+v, full %t: %+v; want %d to be the next number, %d held, %v free", within, full, view, next, held, free)
		}
	}
}

// empty: the answers of a store without rows.
func empty(b bench) {
	if b.String() == "" {
		b.Error("the store has no name")
	}
	row, now, err := b.Read(b.Context(), 7, time.Hour)
	if row != nil || err != nil {
		b.Errorf("read: %v, %v", row, err)
	}
	b.views(leasestore.Range{From: 3, To: 9}, 3, 0)
	view, err := b.Look(b.Context(), within, false, time.Hour)
	if err != nil || (view.Now == 0) != (now == 0) {
		b.Errorf("look: %+v, %v after a read at %d", view, err, now)
	}
	if now != 0 && time.Since(time.UnixMilli(now)).Abs() > time.Hour {
		b.Errorf("the store's clock shows %d", now)
	}
	rows, err := b.List(b.Context(), 0, time.Hour)
	if len(rows) != 0 || err != nil {
		b.Errorf("list: %v, %v", rows, err)
	}
	b.swaps("", write(leasestore.Acquire, 7, "a", 1), false)
}

// insert: a row is made once, and has all that was written.
func insert(b bench) {
	long := strings.Repeat("0123456789abcdef", 4)
	b.inserts(write(leasestore.Acquire, 7, long, 1<<60), true)
	if row := b.row(7, long, 1<<60, leasestore.StateHeld); row.Node != node {
		b.Errorf("%+v; want %+v", row.Node, node)
	}
	b.inserts(write(leasestore.Acquire, 7, "b", 1), false)
	b.inserts(write(leasestore.Acquire, within.To, "c", 0), true)
	b.row(7, long, 1<<60, leasestore.StateHeld)
	b.another().row(within.To, "c", 0, leasestore.StateHeld)
}

// swap: a write is done only if it names the row's token. Extend keeps the node.
func swap(b bench) {
	a := b.another()
	a.inserts(write(leasestore.Acquire, 7, "a", 100), true)
	taken := write(leasestore.Acquire, 7, "b", 200)
	taken.Node = other
	for _, wrong := range []string{"x", "", "A"} { // case matters
		b.swaps(wrong, taken, false)
	}
	a.row(7, "a", 100, leasestore.StateHeld)
	b.swaps("a", taken, true)
	if row := a.row(7, "b", 200, leasestore.StateHeld); row.Node != other {
		b.Errorf("%+v; want %+v", row.Node, other)
	}
	a.swaps("a", write(leasestore.Acquire, 7, "c", 300), false)
	b.swaps("b", write(leasestore.Extend, 7, "d", 400), true)
	if row := a.row(7, "d", 400, leasestore.StateHeld); row.Node != other {
		b.Errorf("%+v; want %+v", row.Node, other)
	}
	b.swaps("d", write(leasestore.Release, 7, "e", 350), true)
	a.row(7, "e", 350, leasestore.StateFree)
	b.swaps("d", write(leasestore.Extend, 7, "f", 500), false)
	a.swaps("e", write(leasestore.Acquire, 7, "g", 600), true)
	b.row(7, "g", 600, leasestore.StateHeld)
	b.swaps("g", write(leasestore.Extend, 8, "h", 1), false) // another number
}

// bounds: a store with a clock does not say that it wrote at a time that the holder does not expect.
func bounds(b bench) {
	b.inserts(write(leasestore.Acquire, 7, "a", 100), true)
	for i, hours := range []int64{0, -2, 2, 0} {
		row, now, err := b.Read(b.Context(), 7, time.Hour) // a write that was not done may have changed the row
		b.must(err)
		w := write(leasestore.Extend, 7, fmt.Sprint("b", i), int64(200+i))
		at := time.UnixMilli(now).Add(time.Duration(hours) * time.Hour)
		w.Earliest, w.Latest = at.Add(-time.Hour).UnixMilli(), at.Add(time.Hour).UnixMilli()
		b.swaps(row.Token, w, hours == 0 || now == 0)
	}
}

// freshness: a number that was given is not given as a fresh one, only if it is chosen.
func freshness(b bench) {
	b.fresh("a", within, 0)
	b.inserts(write(leasestore.Acquire, 5, "c", 1), true)
	b.views(within, 6, 2)
	b.views(leasestore.Range{From: 0, To: 4}, 6, 1) // the count goes beyond this range
	b.fresh("d", leasestore.Range{From: 0, To: 4}, 6)
	b.inserts(write(leasestore.Acquire, 3, "e", 1), true)
	b.another().fresh("f", within, 6)
	b.views(within, 7, 4)
	assigned := write(leasestore.Acquire, 7, "g", 1) // by an Assigner
	assigned.Within = leasestore.Range{From: 7, To: 7}
	b.inserts(assigned, true)
	b.fresh("h", within, 8)
	b.views(within, 9, 6)
	b.swaps("h", write(leasestore.Release, 8, "i", 2), true) // free, and not new
	b.fresh("j", within, 9)
	b.fresh("k", leasestore.Range{From: 0, To: 9}, 10)
}

// deleted: a number whose row was deleted is not given as new again.
func deleted(b bench) {
	if b.suite.Delete == nil {
		b.Skip("the suite has no Delete")
	}
	for number := range int64(3) {
		b.fresh(fmt.Sprint("a", number), within, number)
	}
	for number := range int64(3) {
		b.suite.Delete(b.T, b.Store, number)
	}
	b.views(within, 3, 0)
	b.fresh("b", within, 3)
	b.inserts(write(leasestore.Acquire, 7, "c", 1), true)
	b.inserts(write(leasestore.Acquire, 1, "d", 1), true) // a deleted number is there for an Assigner, and lowers no count
	b.suite.Delete(b.T, b.Store, 7)
	b.fresh("e", within, 8)
}

// ranges: a view has nothing of the numbers outside its range.
func ranges(b bench) {
	north, south := leasestore.Range{From: 0, To: 19}, leasestore.Range{From: 20, To: 39}
	b.fresh("a", south, 20)
	b.fresh("b", north, 0)
	b.fresh("c", south, 21)
	b.swaps("a", write(leasestore.Release, 20, "d", 5), true)
	b.views(south, 22, 1, 20)
	b.views(north, 1, 1)
	b.views(within, 22, 2, 20)
	b.views(leasestore.Range{From: 0, To: 0}, 1, 1) // both ends are within
	b.views(leasestore.Range{From: 20, To: 20}, 22, 0, 20)
	b.views(leasestore.Range{From: 21, To: 21}, 22, 1)
	b.fresh("e", within, 22)
	b.fresh("f", leasestore.Range{From: 0, To: 0}, 23) // the count of holders whose ranges begin at 0
}

// look: free numbers come in the order of Until, the least first.
func look(b bench) {
	for number, until := range []int64{500, 100, 400, 200, 300} {
		b.inserts(write(leasestore.Acquire, int64(number), "a", 1), true)
		if number != 2 {
			b.swaps("a", write(leasestore.Release, int64(number), "b", until), true)
		}
	}
	b.views(within, 5, 1, 1, 3, 4, 0)
	b.views(leasestore.Range{From: 0, To: 2}, 5, 1, 1, 0)
}

// list: the highest numbers come first.
func list(b bench) {
	for _, number := range []int64{9, 10, 2} {
		b.inserts(write(leasestore.Acquire, number, "a", number), true)
	}
	b.swaps("a", write(leasestore.Release, 10, "b", 10), true)
	for limit, want := range map[int]string{0: "[10 free 9 held 2 held]", 1: "[10 free]", 2: "[10 free 9 held]", 5: "[10 free 9 held 2 held]"} {
		rows, err := b.List(b.Context(), limit, time.Hour)
		var got []any
		for _, row := range rows {
			got = append(got, row.Number, row.State)
			if row.Node != node || row.Until != row.Number {
				b.Errorf("%+v", row)
			}
		}
		if fmt.Sprint(got) != want || err != nil {
			b.Errorf("limit %d: %v, %v; want %s", limit, got, err, want)
		}
	}
}

// once: of several writes at the same time, one succeeds.
func once(b bench) {
	stores := b.handles(6)
	for round := range 20 {
		number := int64(round / 2) // first an insert, then a swap
		row, _, err := b.Read(b.Context(), number, time.Hour)
		b.must(err)
		var won, failed atomic.Int64
		holdertest.Together(len(stores), func(i int) {
			w := write(leasestore.Acquire, number, fmt.Sprintf("%d-%d", round, i), int64(i))
			var done bool
			var err error
			if row == nil {
				_, done, err = stores[i].Insert(b.Context(), w)
			} else {
				done, err = stores[i].Swap(b.Context(), row.Token, w)
			}
			switch {
			case err != nil:
				failed.Add(1)
			case done:
				won.Add(1)
			}
		})
		if won.Load() > 1 || won.Load() == 0 && failed.Load() == 0 {
			b.Fatalf("round %d: %d writers of %d succeeded, %d failed; want one", round, won.Load(), len(stores), failed.Load())
		}
	}
}

// cancelled: a call fails once its context has ended.
func cancelled(b bench) {
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	_, look := b.Look(ctx, within, false, time.Hour)
	_, _, read := b.Read(ctx, 7, time.Hour)
	_, _, insert := b.Insert(ctx, write(leasestore.Acquire, 7, "a", 1))
	_, swap := b.Swap(ctx, "a", write(leasestore.Acquire, 7, "b", 1))
	_, list := b.List(ctx, 0, time.Hour)
	for name, err := range map[string]error{"Look": look, "Read": read, "Insert": insert, "Swap": swap, "List": list} {
		if err == nil {
			b.Errorf("%s: no error", name)
		}
	}
}

// layout: the store remembers one layout, and replaces it only if the caller names it.
func layout(b bench) {
	if remembered, err := b.SwapLayout(b.Context(), "first", terms("second")); remembered != "" || err != nil {
		b.Fatalf("SwapLayout of a store without a layout = %q, %v", remembered, err)
	}
	// Of several at once, one is the first, and all learn which.
	stores, remembered := b.handles(6), [6]string{}
	holdertest.Together(len(stores), func(i int) {
		var err error
		if remembered[i], err = stores[i].SwapLayout(b.Context(), "", terms(fmt.Sprint("layout ", i))); err != nil {
			b.Error(err)
		}
	})
	first := remembered[0]
	for _, text := range remembered {
		if text == "" || text != first {
			b.Fatalf("starts at once: %q, want one layout for all", remembered)
		}
	}
	a, long := b.another(), "1/1/61,epoch=2010-11-04T01:42:54.657123456Z,unit=2562047h47m16.854775807s"
	for _, step := range []struct{ old, layout, want string }{
		{"", "second", first}, {"second", "third", first}, {first, first, first},
		{first, long, long}, {long[:64], "third", long}, {"", first, long}, {long, "second", "second"},
	} {
		remembered, err := a.SwapLayout(b.Context(), step.old, terms(step.layout))
		if err != nil || remembered != step.want {
			b.Fatalf("SwapLayout(%q, %q) = %q, %v; want %q", step.old, step.layout, remembered, err, step.want)
		}
		a, b = b, a
	}
	b.views(within, within.From, 0) // a layout is no row
	if rows, err := b.List(b.Context(), 0, time.Hour); len(rows) != 0 || err != nil {
		b.Errorf("list: %v, %v; want no row", rows, err)
	}
	b.inserts(write(leasestore.Acquire, within.From, "a", 1), true)
}
