package worker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/worker/internal/holding"
	"github.com/uidring/uidring/worker/lease"
)

// A number above the layout's largest is an error that names both, and not folded
// back to a number that others have.
func TestExhausted(t *testing.T) {
	each(t, all, func(t *testing.T, s *store) {
		a := s.on(s.DB, logTo(new(logged.Text).Logger()))
		limit := s.first + 2
		var want []int64
		for n := s.first; n <= limit; n++ {
			want = append(want, n)
			if number, err := take(t, context.Background(), a, limit); number != n || err != nil {
				t.Fatalf("%d, %v; want %d", number, err, n)
			}
		}
		number, err := take(t, context.Background(), a, limit)
		var exhausted *lease.ExhaustedError
		if number != 0 || !errors.Is(err, lease.ErrExhausted) || !errors.As(err, &exhausted) {
			t.Fatalf("%d, %v; want ErrExhausted", number, err)
		}
		held := int64(0)
		if s.name == "leaser" {
			held = 3
			wantAll(t, err, "3 are held in "+s.Table)
		}
		if want := (lease.ExhaustedError{Next: limit + 1, Max: limit, Held: held, Store: s.Table}); *exhausted != want {
			t.Errorf("%+v, want %+v", *exhausted, want)
		}
		wantNumbers(t, s, want...)
	})
}

// A single number is enough for whoever may count from 0.
func TestLimitZero(t *testing.T) {
	each(t, all, func(t *testing.T, s *store) {
		number, err := take(t, context.Background(), s.on(s.DB), 0)
		if s.first == 0 && (number != 0 || err != nil) {
			t.Errorf("%d, %v; want number 0", number, err)
		}
		if s.first == 1 && (number != 0 || !errors.Is(err, lease.ErrExhausted)) {
			t.Errorf("%d, %v; want ErrExhausted", number, err)
		}
	})
}

// What was used up is free again once it is given back.
func TestNumbersComeBack(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		a := s.leaser(s.DB)
		var held []*holding.Holder
		for range 3 {
			held = append(held, holding.Take(t, a, 2))
		}
		if _, err := try(t, a, 2); !errors.Is(err, lease.ErrExhausted) {
			t.Fatalf("%v; want ErrExhausted", err)
		}
		release(t, held[1], time.Now())
		h := holding.Take(t, a, 2)
		if got := h.Last().Number; got != 1 {
			t.Errorf("number %d, want 1, which was given back", got)
		}
		wantNumbers(t, s, 0, 1, 2)
	})
}

// Numbers beyond the limit, which others have who use the table with a larger
// layout, are neither given nor counted as held.
func TestNumbersBeyondTheLimit(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		a := s.leaser(s.DB)
		past := time.Now()
		var held []*holding.Holder
		for range 9 {
			held = append(held, holding.Take(t, a, 8))
		}
		release(t, held[7], past)
		_, err := try(t, a, 3)
		var exhausted *lease.ExhaustedError
		if !errors.As(err, &exhausted) {
			t.Fatalf("%v; want ErrExhausted", err)
		}
		if want := (lease.ExhaustedError{Next: 9, Max: 3, Held: 4, Store: s.Table}); *exhausted != want {
			t.Errorf("%+v, want %+v", *exhausted, want)
		}
		if h := holding.Take(t, a, 8); h.Last().Number != 7 {
			t.Errorf("%v; want number 7, which is free", h.Last())
		}
	})
}

// A number with time reserved ahead of the present is given only when there is
// no new one: the number with the least Until.
func TestReservedNumbersComeLast(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		a := s.leaser(s.DB, lease.Config{Window: 24 * time.Hour})
		now := time.Now()
		ahead := []time.Duration{3 * time.Hour, time.Hour, 2 * time.Hour}
		var held []*holding.Holder
		for range ahead {
			held = append(held, holding.Take(t, a, 3))
		}
		for i, h := range held {
			release(t, h, now.Add(ahead[i]))
		}
		for i, want := range []int64{3, 1, 2, 0} {
			h := holding.Take(t, a, 3)
			g := h.Last()
			if g.Number != want {
				t.Errorf("start %d: %v; want number %d", i, g, want)
			}
			if want != 3 && g.From.UnixMilli() != millis(now.Add(ahead[want])) {
				t.Errorf("start %d: %v; want it from %v", i, g, now.Add(ahead[want]))
			}
		}
	})
}
