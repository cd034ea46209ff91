// Package agreement is what a store remembers about the layout of its ids, as text:
//
//	LAYOUT[,numbers=FROM-TO][,after=LAYOUT:USED[;LAYOUT:USED...]][,changing=TOKEN]
//
// A store that never changed its layout has the layout alone.
package agreement

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// Agreement is what all holders of a store agree on.
type Agreement struct {
	Layout  string           // of new ids, as the holders state it
	Numbers leasestore.Range // under which new ids can equal no earlier ones
	Earlier []Earlier        // layouts, the oldest first
	Change  string           // the token of a change of the layout that has begun; empty is none
}

// Earlier is a layout that ids had before, under the numbers 0 to Used.
type Earlier struct {
	Layout string
	Used   int64
}

// ErrUnsafe is matched by the error of Next if no number keeps new ids apart from earlier ones.
var ErrUnsafe = errors.New("no worker number is safe")

const wayOut = "use a layout with more worker bits or another key space, or stop all generators and begin in a new store (docs/migrating.md, Another layout)"

// unsafe is an error that matches ErrUnsafe.
type unsafe string

func (e unsafe) Error() string        { return string(e) }
func (e unsafe) Is(target error) bool { return target == ErrUnsafe }

// All are the numbers where the layout never changed.
var All = leasestore.Range{To: math.MaxInt64}

// maxLength is the most bytes of an agreement: every store has room for 128, with the token of a change.
const maxLength = 110

var (
	errNone = leasestore.Transient(errors.New("the store no longer remembers the layout of its ids: the record was deleted or cannot be read"))

	errChanging = leasestore.Transient(errors.New("a change of the store's layout has begun, and has not ended; unless it ends in seconds, run \"layout change\" again"))
)

// Read is Parse for a start. Its errors are transient if the store remembers nothing, or the layout changes.
func Read(text string) (Agreement, error) {
	a, err := Parse(text)
	switch {
	case text == "":
		err = errNone
	case err == nil && a.Change != "":
		err = errChanging
	}
	return a, err
}

// Parse reads what a store remembers.
func Parse(text string) (Agreement, error) {
	a := Agreement{Numbers: All}
	text, a.Change, _ = strings.Cut(text, ",changing=")
	text, after, has := strings.Cut(text, ",after=")
	layout, numbers, limited := strings.Cut(text, ",numbers=")
	a.Layout = layout
	if limited {
		from, to, _ := strings.Cut(numbers, "-")
		var err1, err2 error
		a.Numbers.From, err1 = strconv.ParseInt(from, 10, 64)
		a.Numbers.To, err2 = strconv.ParseInt(to, 10, 64)
		if err1 != nil || err2 != nil {
			return a, fmt.Errorf("the store remembers numbers=%q with its layout, want FROM-TO", numbers)
		}
	}
	if has {
		for part := range strings.SplitSeq(after, ";") {
			colon := strings.LastIndexByte(part, ':')
			used, err := strconv.ParseInt(part[colon+1:], 10, 64)
			if colon < 0 || err != nil {
				return a, fmt.Errorf("the store remembers after=%q with its layout, want LAYOUT:NUMBER", part)
			}
			a.Earlier = append(a.Earlier, Earlier{part[:colon], used})
		}
	}
	return a, nil
}

func (a Agreement) String() string {
	text := a.Layout
	if a.Numbers != All {
		text += fmt.Sprintf(",numbers=%d-%d", a.Numbers.From, a.Numbers.To)
	}
	var earlier []string
	for _, e := range a.Earlier {
		earlier = append(earlier, fmt.Sprintf("%s:%d", e.Layout, e.Used))
	}
	if len(earlier) > 0 {
		text += ",after=" + strings.Join(earlier, ";")
	}
	if a.Change != "" {
		text += ",changing=" + a.Change
	}
	return text
}

// Next returns the agreement on another layout, once ids of this one can have the numbers 0 to used. Holders of both
// layouts then make ids at the same time, so only worker numbers keep their ids apart. New numbers are above used, so
// that no row of a number says anything about another layout's.
func (a Agreement) Next(to bits.Layout, used int64) (Agreement, error) {
	next := Agreement{Layout: to.String(), Numbers: All, Earlier: slices.Clone(a.Earlier)}
	if used >= 0 {
		next.Earlier = append(next.Earlier, Earlier{short(a.Layout), used})
	}
	for _, e := range next.Earlier {
		old, err := bits.ParseLayout(e.Layout)
		if err != nil {
			return next, fmt.Errorf("the store remembers the layout %q, which cannot be compared with another: %w", e.Layout, err)
		}
		both, err := bits.NewSuccession(old, to, old.Epoch, time.Time{})
		if err != nil {
			return next, err
		}
		first, last, ok := both.FreshNumbers(e.Used)
		if !ok {
			return next, unsafe(fmt.Sprintf("no worker number of %s keeps its ids apart from those of %s under the numbers 0 to %d while generators of the old layout go on; "+wayOut, to, old, e.Used))
		}
		next.Numbers = leasestore.Range{From: max(next.Numbers.From, first, e.Used+1), To: min(next.Numbers.To, last)}
	}
	if next.Numbers.From > next.Numbers.To {
		return next, unsafe(fmt.Sprintf("of %s, only worker numbers up to %d keep ids apart from those of earlier layouts, and numbers up to %d have been given; "+wayOut, to, next.Numbers.To, next.Numbers.From-1))
	}
	if text := next.String(); len(text) > maxLength {
		return next, unsafe(fmt.Sprintf("after %d changes, the store has no room to remember another layout; "+wayOut, len(a.Earlier)))
	}
	return next, nil
}

// Past returns, for each of Earlier, its layout and the numbers that its ids had, none if From exceeds To.
func (a Agreement) Past() (layouts []bits.Layout, numbers []leasestore.Range, err error) {
	for i, e := range a.Earlier {
		layout, err := bits.ParseLayout(e.Layout)
		if err != nil {
			return nil, nil, fmt.Errorf("the store remembers the layout %q, which this version cannot read: %w", e.Layout, err)
		}
		then, err := Agreement{Earlier: a.Earlier[:i]}.Next(layout, -1)
		if err != nil {
			return nil, nil, err
		}
		layouts, numbers = append(layouts, layout), append(numbers, leasestore.Range{From: then.Numbers.From, To: min(then.Numbers.To, e.Used)})
	}
	return layouts, numbers, nil
}

// short returns the name of a layout if it has one, and else leaves out what is the default.
func short(text string) string {
	for _, name := range bits.PresetNames() {
		if layout, err := bits.ParseLayout(name); err == nil && layout.String() == text {
			return name
		}
	}
	return strings.TrimSuffix(text, ",unit=1s")
}
