package format

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// Layouts are those of ids that share a store, or the one of ids without a store.
type Layouts struct {
	Store    string                // that remembers them; empty if they were stated, or none was found
	Layout   bits.Layout           // of new ids
	Numbers  lease.Range           // of their workers
	Greatest int64                 // worker number that was given; -1 if that is not known
	Earlier  []lease.EarlierLayout // the oldest first
}

// All are the worker numbers of ids where nobody knows better.
var All = lease.Range{To: math.MaxInt64}

// LayoutAlone is what is known of ids without a store.
func LayoutAlone(layout bits.Layout) Layouts {
	return Layouts{Layout: layout, Numbers: All, Greatest: -1}
}

// Naming returns the layouts, of which those that equal layout have its named parts: no store remembers these.
func (l Layouts) Naming(layout bits.Layout) Layouts {
	plain := layout
	plain.WorkerParts = ""
	name := func(of *bits.Layout) {
		if *of == plain {
			*of = layout
		}
	}
	name(&l.Layout)
	l.Earlier = slices.Clone(l.Earlier)
	for i := range l.Earlier {
		name(&l.Earlier[i].Layout)
	}
	return l
}

// Newest yields the present layout and then those before it, with their numbers.
func (l Layouts) Newest() iter.Seq2[int, lease.EarlierLayout] {
	return slices.Backward(append(slices.Clone(l.Earlier), lease.EarlierLayout{Layout: l.Layout, Numbers: l.Numbers}))
}

// Reader finds the layout of each id. Worker numbers tell layouts of one store apart: see [lease.EarlierLayout].
// It is safe for concurrent use.
type Reader struct {
	Allocators []*bits.Allocator // of the present layout, and then of earlier ones, the oldest last
	numbers    []lease.Range
	greatest   int64
}

// NewReader returns an error if a layout is invalid.
func NewReader(of Layouts) (*Reader, error) {
	r := &Reader{greatest: of.Greatest}
	for _, of := range of.Newest() {
		allocator, err := bits.NewAllocator(of.Layout)
		if err != nil {
			return nil, err
		}
		r.Allocators, r.numbers = append(r.Allocators, allocator), append(r.numbers, of.Numbers)
	}
	return r, nil
}

// Find returns which allocator reads an id. Where the id is probably of no layout, it returns 0, and says why the id is
// hardly of the present one.
func (r *Reader) Find(id int64) (index int, doubt string) {
	for i := range r.Allocators {
		why := r.doubt(i, id)
		if why == "" {
			return i, ""
		}
		if i == 0 {
			doubt = why
		}
	}
	return 0, doubt
}

// doubt says why an id is hardly of a layout. Small ids of a counter have times on the layout's first day.
func (r *Reader) doubt(index int, id int64) string {
	const day = 24 * time.Hour
	layout, numbers := r.Allocators[index].Layout(), r.numbers[index]
	parts, err := r.Allocators[index].Parse(id)
	switch {
	case err != nil:
		return err.Error()
	case time.Until(parts.Time) > uid.DefaultMaxBorrow:
		return fmt.Sprintf("its time is more than %.15g hours in the future", uid.DefaultMaxBorrow.Hours())
	case parts.Time.Sub(layout.Epoch) < day && time.Since(layout.Epoch) > day:
		return "its time is on the first day of the layout"
	case parts.Worker < numbers.From:
		return fmt.Sprintf("since the layout changed, worker numbers begin at %d", numbers.From)
	case parts.Worker > numbers.To:
		return fmt.Sprintf("since the layout changed, worker numbers end at %d", numbers.To)
	case index == 0 && r.greatest >= 0 && parts.Worker > r.greatest:
		return fmt.Sprintf("the greatest worker number that the database has given is %d", r.greatest)
	}
	return ""
}
