package leasestore

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// View is what [Store.Look] returns.
type View struct {
	Now    int64   // the store's clock, in milliseconds since 1970; 0 if it has none: the holder uses its own clock
	Free   []Row   // rows in the range that are not held, the least Until first; 256 rows are enough
	Next   int64   // the least number, from Range.From on, above all given numbers of the range
	Held   int64   // how many rows of the range are held; 0 unless the look is full
	Others []Range // overlapping ranges, up to what each gave; the holder logs them, unless the store does
}

// NewView returns the [View] of rows, which are all rows or a sample. given maps each range's From
// to one above the greatest number given out there.
func NewView(now int64, rows []Row, given map[int64]int64, within Range) View {
	view := View{Now: now, Next: within.From}
	for from, next := range given {
		if from <= within.To {
			view.Next = max(view.Next, next)
		}
		// A range that gave one number may be that of an assigned number.
		if other := (Range{from, next - 1}); from != within.From && from < other.To && from <= within.To && other.To >= within.From {
			view.Others = append(view.Others, other)
		}
	}
	for _, row := range rows {
		if row.Number < within.From || row.Number > within.To {
			continue
		}
		view.Next = max(view.Next, row.Number+1)
		if row.State == StateHeld {
			view.Held++
		} else {
			view.Free = append(view.Free, row)
		}
	}
	slices.SortFunc(view.Free, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Until, b.Until), cmp.Compare(a.Number, b.Number))
	})
	view.Free = view.Free[:min(len(view.Free), 256)]
	return view
}

// sampled is how many numbers a look that is not full reads.
const sampled = 64

// Sample returns the distinct numbers that a Look reads unless it is full: all given numbers of the
// range if there are at most 64, or else 64 of them at random. next is View.Next. If no sampled
// number is free, take a second sample, to use fewer new numbers.
func (r Range) Sample(next int64) []int64 {
	given := max(0, min(next-1, r.To)-r.From+1)
	var numbers []int64
	for last := given - min(given, sampled); last < given; last++ { // Floyd's algorithm: Bentley and Floyd, CACM 30(9), 1987
		number := r.From + rand.Int64N(last+1)
		if slices.Contains(numbers, number) {
			number = r.From + last
		}
		numbers = append(numbers, number)
	}
	return numbers
}
