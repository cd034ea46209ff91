package leaserow

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/uidring/uidring/worker/lease/leasestore"
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

// Sample returns what a look that is not full finds. now is the store's clock when it read given.
// read returns the clock and the rows of some numbers. If none of these is free soon, Sample calls
// read again, with other numbers.
func Sample(now int64, within leasestore.Range, given map[int64]int64, read func(numbers []int64) (now int64, rows []leasestore.Row, err error)) (view leasestore.View, err error) {
	view = leasestore.NewView(now, nil, given, within)
	next := view.Next
	var rows []leasestore.Row
	for range 2 {
		numbers := within.Sample(next)
		if len(numbers) == 0 {
			break
		}
		now, more, err := read(numbers)
		if err != nil {
			return leasestore.View{}, err
		}
		rows = append(rows, more...)
		view = leasestore.NewView(now, rows, given, within)
		view.Held = 0 // of the sample only
		all := min(next-1, within.To) - within.From + 1
		if int64(len(numbers)) >= all || satisfies(view) {
			break
		}
	}
	return view, nil
}

// satisfies reports whether a start can take a free number now or soon.
func satisfies(view leasestore.View) bool {
	latest := cmp.Or(view.Now, time.Now().UnixMilli()) + soon.Milliseconds()
	return slices.ContainsFunc(view.Free, func(r leasestore.Row) bool { return r.Until <= latest })
}
