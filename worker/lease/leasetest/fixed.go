package leasetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/worker/lease"
)

// fixed: an assigned number leaves the numbers below it to others. Others skip it, or
// are told that no number is left.
func (s Suite) fixed(t *testing.T, open Opener) {
	alive := lease.Config{Expiry: time.Minute}
	s.take(t, open(t), 99, alive, lease.Config{Assigner: number(5)})
	for want, opts := range [][]lease.Config{{lease.Config{Numbers: &lease.Bounds{From: 0, To: 4}}}, {lease.Config{Numbers: &lease.Bounds{From: 0, To: 4}}}, nil} {
		if g := s.take(t, open(t), 4, append(opts, alive)...).Last(); g.Number != int64(want) {
			t.Errorf("granted %+v; want number %d", g, want)
		}
	}
	var exhausted *lease.ExhaustedError
	if h, err := s.try(t, open(t), 5, alive); !errors.As(err, &exhausted) || exhausted.Held != 4 || exhausted.Next != 6 {
		t.Errorf("%v, %v; want ErrExhausted, four held and 6 to be the next number", h.History(), err)
	}
	if g := s.take(t, open(t), 99, alive).Last(); g.Number != 6 {
		t.Errorf("granted %+v; want number 6", g)
	}
}

// overtaken: who was shown a number as new that an Assigner then took gets another.
func (s Suite) overtaken(t *testing.T, open Opener) {
	alive, once := lease.Config{Expiry: time.Minute}, sync.Once{}
	s.take(t, open(t), 9, alive)
	late := &lookedAt{open(t), func() {
		once.Do(func() { s.take(t, open(t), 9, alive, lease.Config{Assigner: number(1)}) })
	}}
	if g := s.take(t, late, 9, alive).Last(); g.Number != 2 {
		t.Errorf("granted %+v; want number 2", g)
	}
}

// lookedAt is a store that calls a function after each look.
type lookedAt struct {
	lease.Store
	looked func()
}

func (l *lookedAt) Look(ctx context.Context, within lease.Bounds, expiry time.Duration) (lease.View, error) {
	view, err := l.Store.Look(ctx, within, expiry)
	l.looked()
	return view, err
}

// counted: an assigned number that an older version counted with all below it goes on
// from its row, and the numbers below it stay given.
func (s Suite) counted(t *testing.T, open Opener) {
	b := bench{t, open(t)}
	until := time.Now().UnixMilli()
	b.inserts(acquire(5, "a", until), true)
	b.swaps("a", change(acquire(5, "b", until), lease.Release), true)
	if g := s.take(t, open(t), 99, lease.Config{Assigner: number(5)}).Last(); g.Number != 5 || g.From.UnixMilli() != until {
		t.Errorf("granted %+v; want number 5 from %d", g, until)
	}
	if view := b.view(lease.Bounds{From: 0, To: 4}); view.Next != 6 {
		t.Errorf("%+v; want 6 to be the next number", view)
	}
}
