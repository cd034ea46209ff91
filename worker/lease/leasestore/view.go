package leasestore

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// NewView returns the [View] of rows: all rows, or a sample. given maps each range's From to the
// greatest number that has been given out from that range, plus one.
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

// Sample returns distinct numbers for Look to read if full is not set. If at most 64 numbers of
// the range have been given out, Sample returns all of them; otherwise, it returns 64 of them at
// random. next is View.Next. If no sampled number is free, take a second sample, so that fewer
// new numbers are used.
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
