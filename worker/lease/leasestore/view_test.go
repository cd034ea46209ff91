package leasestore_test

import (
	"slices"
	"testing"

	"github.com/uidring/uidring/worker/lease/leasestore"
)

func TestNewView(t *testing.T) {
	rows := []leasestore.Row{
		{Number: 99, Until: 1, State: leasestore.StateFree},
		{Number: 100, Until: 30, State: leasestore.StateExpired},
		{Number: 101, Until: 40, State: leasestore.StateHeld},
		{Number: 103, Until: 20, State: leasestore.StateFree}, // as much as number 102
		{Number: 102, Until: 20, State: leasestore.StateFree},
		{Number: 200, Until: 2, State: leasestore.StateFree},
	}
	for name, test := range map[string]struct {
		given  map[int64]int64
		within leasestore.Range
		next   int64
		held   int64
		free   []int64
		others []leasestore.Range
	}{
		"rows alone":                          {nil, leasestore.Range{From: 100, To: 110}, 104, 1, []int64{102, 103, 100}, nil},
		"more given than there are rows":      {map[int64]int64{50: 100, 100: 105}, leasestore.Range{From: 100, To: 110}, 105, 1, []int64{102, 103, 100}, nil},
		"given above the range":               {map[int64]int64{111: 113}, leasestore.Range{From: 100, To: 110}, 104, 1, []int64{102, 103, 100}, nil},
		"an assigned number":                  {map[int64]int64{107: 108}, leasestore.Range{From: 100, To: 110}, 108, 1, []int64{102, 103, 100}, nil},
		"given by a range that begins before": {map[int64]int64{50: 108}, leasestore.Range{From: 100, To: 110}, 108, 1, []int64{102, 103, 100}, []leasestore.Range{{From: 50, To: 107}}},
		"given in all ranges":                 {map[int64]int64{0: 100, 200: 205}, leasestore.Range{From: 0, To: 300}, 205, 1, []int64{99, 200, 102, 103, 100}, []leasestore.Range{{From: 200, To: 204}}},
		"none":                                {nil, leasestore.Range{From: 300, To: 310}, 300, 0, nil, nil},
	} {
		view := leasestore.NewView(7, rows, test.given, test.within)
		var free []int64
		for _, row := range view.Free {
			free = append(free, row.Number)
		}
		if view.Now != 7 || view.Next != test.next || view.Held != test.held || !slices.Equal(free, test.free) || !slices.Equal(view.Others, test.others) {
			t.Errorf("%s: %+v, want %+v", name, view, test)
		}
	}

	many := make([]leasestore.Row, 300)
	for i := range many {
		many[i] = leasestore.Row{Number: int64(i), Until: int64(-i), State: leasestore.StateFree}
	}
	if view := leasestore.NewView(0, many, nil, leasestore.Range{To: 1000}); len(view.Free) != 256 || view.Free[0].Number != 299 {
		t.Errorf("%d rows are free, the first %+v", len(view.Free), view.Free[0])
	}
}

// A sample has each number once: all that were given if they are few, else 64 of all.
func TestSample(t *testing.T) {
	for _, test := range []struct {
		within leasestore.Range
		next   int64
		want   int
	}{
		{leasestore.Range{From: 100, To: 299}, 100, 0},
		{leasestore.Range{From: 100, To: 299}, 90, 0}, // of a holder with no number
		{leasestore.Range{From: 100, To: 299}, 164, 64},
		{leasestore.Range{From: 100, To: 299}, 165, 64},
		{leasestore.Range{From: 100, To: 102}, 165, 3},
		{leasestore.Range{From: 0, To: 1<<63 - 1}, 1<<63 - 1, 64},
	} {
		last, seen := min(test.next-1, test.within.To), map[int64]bool{}
		for range 200 {
			numbers := test.within.Sample(test.next)
			for _, n := range numbers {
				if seen[n] = true; n < test.within.From || n > last {
					t.Fatalf("%+v: %d", test, n)
				}
			}
			if slices.Sort(numbers); len(numbers) != test.want || len(slices.Compact(numbers)) != test.want {
				t.Fatalf("%+v: %d", test, numbers)
			}
		}
		if given := max(0, last-test.within.From+1); given < 100 && len(seen) != int(given) {
			t.Errorf("%+v: %d of all numbers were sampled, want %d", test, len(seen), given)
		}
	}
}
