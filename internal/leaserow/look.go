package leaserow

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/uidring/uidring/worker/lease"
)

// Digits writes a number with 19 digits, so that keys sort as numbers do.
func Digits(number int64) string { return fmt.Sprintf("%019d", number) }

// Number reads what Digits wrote, or another number from 0 on.
func Number(text string) (int64, error) {
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number < 0 {
		return 0, fmt.Errorf("%q, want a number", text)
	}
	return number, nil
}

const soon = time.Second // ahead of the clock, a start takes a free row

// Sample returns what a look that is not full finds. read returns the store's clock and the rows
// of some numbers. If none of these is free soon, Sample calls read again, with other numbers.
func Sample(within lease.Bounds, given map[int64]int64, read func(numbers []int64) (now int64, rows []lease.Row, err error)) (view lease.View, err error) {
	next := lease.NewView(0, nil, given, within).Next
	var rows []lease.Row
	for range 2 {
		numbers := within.Sample(next)
		now, more, err := read(numbers)
		if err != nil {
			return lease.View{}, err
		}
		rows = append(rows, more...)
		view = lease.NewView(now, rows, given, within)
		view.Held = 0 // of the sample only
		all := min(next-1, within.To) - within.From + 1
		if int64(len(numbers)) >= all || satisfies(view) {
			break
		}
	}
	return view, nil
}

// satisfies reports whether a start can take a free number now or soon.
func satisfies(view lease.View) bool {
	latest := cmp.Or(view.Now, time.Now().UnixMilli()) + soon.Milliseconds()
	return slices.ContainsFunc(view.Free, func(r lease.Row) bool { return r.Until <= latest })
}
