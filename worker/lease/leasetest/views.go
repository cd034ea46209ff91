package leasetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/uidring/uidring/worker/internal/holding"
	"github.com/uidring/uidring/worker/lease"
)

// bounds: a view has nothing of the numbers outside its bounds. The next number of bounds
// around two ranges lies above both.
func (s Suite) bounds(t *testing.T, open Opener) {
	b := bench{t, open(t)}
	north, south := lease.Bounds{From: 0, To: 99}, lease.Bounds{From: 100, To: 199}
	put := func(number int64, of lease.Bounds) {
		t.Helper()
		w := acquire(number, fmt.Sprint("t", number), number)
		w.Within, w.Fresh = of, true
		b.inserts(w, true)
	}
	put(100, south)
	put(0, north)
	put(101, south)
	b.swaps("t100", change(acquire(100, "r", 5), lease.Release), true)
	if view := b.view(south); view.Next != 102 || view.Held != 1 || len(view.Free) != 1 || view.Free[0].Number != 100 {
		t.Errorf("%+v; want 102, one held, 100 free", view)
	}
	if view := b.view(north); view.Next != 1 || view.Held != 1 || len(view.Free) != 0 {
		t.Errorf("%+v; want 1, one held, none free", view)
	}
	if view := b.view(within); view.Next != 102 || view.Held != 2 {
		t.Errorf("%+v; want 102, and two held", view)
	}
	for number, held := range map[int64]int64{0: 1, 100: 0, 101: 1} { // both ends are within
		if view := b.view(lease.Bounds{From: number, To: number}); view.Held != held || int64(len(view.Free)) != 1-held {
			t.Errorf("number %d alone: %+v; want %d held", number, view, held)
		}
	}
}

// look: free numbers come in the order of Until, the least first.
func (s Suite) look(t *testing.T, open Opener) {
	b := bench{t, open(t)}
	for number, until := range []int64{500, 100, 400, 200, 300} {
		b.inserts(acquire(int64(number), "a", 1), true)
		if number != 2 {
			b.swaps("a", change(acquire(int64(number), "b", until), lease.Release), true)
		}
	}
	view := b.view(within)
	var free []int64
	for _, row := range view.Free {
		free = append(free, row.Number)
		if row.Token != "b" || row.State == lease.StateHeld {
			t.Errorf("%+v", row)
		}
	}
	if fmt.Sprint(free) != "[1 3 4 0]" || view.Held != 1 || view.Next != 5 {
		t.Errorf("%v are free, %+v; want 1 3 4 0, one held, 5 to be the next number", free, view)
	}
	if view := b.view(lease.Bounds{From: 0, To: 2}); len(view.Free) != 2 || view.Free[0].Number != 1 || view.Free[1].Number != 0 {
		t.Errorf("%+v; want 1 and 0 to be free", view)
	}
}

// list: the highest numbers come first.
func (s Suite) list(t *testing.T, open Opener) {
	b := bench{t, open(t)}
	for _, number := range []int64{9, 10, 2} {
		b.inserts(acquire(number, "a", number), true)
	}
	b.swaps("a", change(acquire(10, "b", 10), lease.Release), true)
	for limit, want := range map[int]string{0: "[10 free 9 held 2 held]", 1: "[10 free]", 2: "[10 free 9 held]", 5: "[10 free 9 held 2 held]"} {
		rows, err := b.List(context.Background(), limit, time.Hour)
		var got []any
		for _, row := range rows {
			got = append(got, row.Number, row.State)
			if row.Node != node || row.Until != row.Number {
				t.Errorf("%+v", row)
			}
		}
		if fmt.Sprint(got) != want || err != nil {
			t.Errorf("limit %d: %v, %v; want %s", limit, got, err, want)
		}
	}
}

// expiry: a holder without signs of life expires, and any other does not.
func (s Suite) expiry(t *testing.T, open Opener) {
	dead, b := open(t), bench{t, open(t)}
	w := acquire(7, "a", 100)
	w.Expiry = s.Expiry
	bench{t, dead}.inserts(w, true)
	b.inserts(acquire(8, "a", 100), true)
	s.Kill(t, dead)
	holding.Eventually(t, "the holder is found dead", func() bool {
		view, err := b.Look(context.Background(), within, s.Expiry)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range view.Free {
			if row.Number == 7 {
				return true
			}
		}
		return false
	})
	row, _, err := b.Read(context.Background(), 7, s.Expiry)
	if err != nil || row == nil || row.State != lease.StateExpired || row.Token != "a" || row.Until != 100 || row.Node != node {
		t.Errorf("%+v, %v; want the row as it was, expired", row, err)
	}
	b.swaps("a", acquire(7, "b", 200), true)
	b.row(7, "b", 200, lease.StateHeld)
}
