package leaserow

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
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

// Sampler makes looks that are not full. The zero Sampler is ready for use.
type Sampler struct {
	mu     sync.Mutex
	within lease.Bounds
	free   []int64   // what Sample returned last for within
	until  time.Time // when it is too old
}

// Guess returns at most n numbers within bounds that were free a moment ago. A start that found
// another holder faster tries them before it takes another sample.
func (s *Sampler) Guess(within lease.Bounds, n int) []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.within != within || time.Now().After(s.until) {
		return nil
	}
	rand.Shuffle(len(s.free), func(i, j int) { s.free[i], s.free[j] = s.free[j], s.free[i] })
	return slices.Clone(s.free[:min(n, len(s.free))])
}

// Sample returns what a look finds. read returns the store's clock and the rows of some numbers.
// If none of these is free soon, Sample calls read again, with other numbers.
func (s *Sampler) Sample(within lease.Bounds, given map[int64]int64, read func(numbers []int64) (now int64, rows []lease.Row, err error)) (view lease.View, err error) {
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
		if all := min(next-1, within.To) - within.From + 1; int64(len(numbers)) >= all {
			return view, nil
		} else if Satisfies(view) {
			break
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.within, s.free, s.until = within, nil, time.Now().Add(time.Second)
	for _, row := range view.Free {
		s.free = append(s.free, row.Number)
	}
	return view, nil
}

// Satisfies reports whether a start can take a free number now or soon.
func Satisfies(view lease.View) bool {
	latest := cmp.Or(view.Now, time.Now().UnixMilli()) + soon.Milliseconds()
	return slices.ContainsFunc(view.Free, func(r lease.Row) bool { return r.Until <= latest })
}
