package lease

import (
	"cmp"
	"slices"
)

// NewView returns the [View] of rows: all rows, or those of a sample. given maps the From of
// holders' bounds to the number above the greatest given number there.
func NewView(now int64, rows []Row, given map[int64]int64, within Bounds) View {
	view := View{Now: now, Next: within.From}
	for from, next := range given {
		if from <= within.To {
			view.Next = max(view.Next, next)
		}
		// A range that gave one number may be that of an assigned number.
		if other := (Bounds{from, next - 1}); from != within.From && from < other.To && from <= within.To && other.To >= within.From {
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
