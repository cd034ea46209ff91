package uidtest_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidtest"
	"github.com/uidring/uidring/worker/lease"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Every way to draw goes on where the one before ended.
func TestSequence(t *testing.T) {
	t.Parallel()
	gen := uidtest.NewSequence(t, 1000)
	one, _ := gen.Next()
	ids := make([]uid.ID, 3)
	n, _ := gen.NextN(ids)
	two, _ := gen.Wait(t.Context())
	run, _ := gen.Claim(t.Context(), 5)
	if one != 1000 || n != 3 || !slices.Equal(ids, []uid.ID{1001, 1002, 1003}) || two != 1004 || run != (uid.Run{First: 1005, N: 5}) {
		t.Error(one, n, ids, two, run)
	}
	for id, err := range gen.All(t.Context()) {
		if id != 1010 || err != nil {
			t.Error(id, err)
		}
		break
	}
	if s := gen.Stats(); s.Issued != 11 || s.RejectedTakes != 0 || s.Closed {
		t.Errorf("%+v", s)
	}
	_, err := gen.Parse(1000)
	need.Error(t, err, bits.ErrForeign)
}

func TestSequenceEnds(t *testing.T) {
	t.Parallel()
	gen := uidtest.NewSequence(t, math.MaxInt64-1)
	ids := make([]uid.ID, 3)
	if n, err := gen.NextN(ids); n != 2 || !errors.Is(err, uid.ErrTimeExhausted) || ids[1] != math.MaxInt64 || gen.Stats().RejectedTakes != 1 {
		t.Error(n, err, ids)
	}
}

func TestFail(t *testing.T) {
	t.Parallel()
	gen, broken := uidtest.NewSequence(t, 1), errors.New("broken")
	gen.Fail(broken)
	if _, err := gen.Next(); err != broken {
		t.Error(err)
	}
	if _, err := gen.Wait(t.Context()); err != broken {
		t.Error(err)
	}
	if s := gen.Stats(); s.LastError != broken || !s.Failing() {
		t.Errorf("%+v; want the error in it", s)
	}
	gen.Fail(nil)
	if s := gen.Stats(); s.LastError != nil || s.Failing() {
		t.Errorf("%+v; want no error in it", s)
	}
	if id, err := gen.Next(); id != 1 || err != nil {
		t.Error(id, err)
	}
	if s := gen.Stats(); s.Issued != 1 || s.RejectedTakes != 2 {
		t.Errorf("%+v", s)
	}
}

// A call that waits ends with Unblock, with its context, with Fail and with Close.
func TestBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, test := range map[string]struct {
			end  func(*uidtest.Fake, context.CancelFunc)
			want error
		}{
			"Unblock": {func(g *uidtest.Fake, _ context.CancelFunc) { g.Unblock() }, nil},
			"context": {func(_ *uidtest.Fake, cancel context.CancelFunc) { cancel() }, context.Canceled},
			"Fail":    {func(g *uidtest.Fake, _ context.CancelFunc) { g.Fail(uid.ErrClockBackward) }, uid.ErrClockBackward},
			"Close":   {func(g *uidtest.Fake, _ context.CancelFunc) { _ = g.Close() }, uid.ErrClosed},
		} {
			gen := uidtest.NewSequence(t, 1)
			gen.Block()
			_, err := gen.Next()
			need.Error(t, err, uid.ErrNotReady)
			ctx, cancel := context.WithCancel(t.Context())
			var waiting sync.WaitGroup
			returned := false
			waiting.Go(func() {
				if _, err := gen.Wait(ctx); !errors.Is(err, test.want) {
					t.Errorf("%s: %v", name, err)
				}
				returned = true
			})
			synctest.Wait()
			if returned {
				t.Errorf("%s: Wait returns while the generator is blocked", name)
			}
			test.end(gen, cancel)
			waiting.Wait()
			cancel()
		}
	})
}

func TestClocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		layout, err := bits.ParseLayout("31/23/2,epoch=2000-01-01")
		need.Must(t, err)
		clock := uidtest.NewClock(time.Now())
		gen := uidtest.NewClocked(t, clock, layout)
		ids := make([]uid.ID, 5)
		if n, err := gen.NextN(ids); n != 4 || !errors.Is(err, uid.ErrTickFull) {
			t.Errorf("%d ids of a tick, %v", n, err)
		}
		for i, id := range ids[:4] {
			if p, err := gen.Parse(id); p.Worker != 1 || p.Sequence != int64(i) || !p.Time.Equal(clock.Now()) || err != nil {
				t.Errorf("%d: %+v, %v", id, p, err)
			}
		}
		var waiting sync.WaitGroup
		waiting.Go(func() {
			id, err := gen.Wait(t.Context())
			if p, _ := gen.Parse(id); p.Sequence != 0 || !p.Time.Equal(clock.Now()) || err != nil {
				t.Errorf("after the wait: %+v, %v", p, err)
			}
		})
		synctest.Wait()
		clock.Advance(time.Second)
		waiting.Wait()
		clock.Advance(-time.Second)
		back := (*uid.ClockBackwardError)(nil)
		if _, err := gen.Next(); !errors.As(err, &back) || back.Amount != time.Second {
			t.Errorf("after a step back: %v", err)
		}
		clock.Set(layout.End())
		_, err = gen.Next()
		need.Error(t, err, uid.ErrTimeExhausted)
	})
}

// fatal is a test that notes that it failed.
type fatal struct {
	testing.TB
	text string
}

func (f *fatal) Helper() {}
func (f *fatal) Fatalf(format string, _ ...any) {
	f.text = format
	panic(f)
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(testing.TB){
		"first":  func(tb testing.TB) { uidtest.NewSequence(tb, 0) },
		"layout": func(tb testing.TB) { uidtest.NewClocked(tb, uidtest.NewClock(time.Now()), bits.Layout{TimeBits: 1}) },
		"clock":  func(tb testing.TB) { uidtest.NewClocked(tb, uidtest.NewClock(time.Time{}), bits.Layout{}) },
	} {
		f := &fatal{}
		func() {
			defer func() { _ = recover() }()
			call(f)
		}()
		if f.text == "" {
			t.Errorf("%s: the test does not fail", name)
		}
	}
}

// TestWorkerSource gives a number, takes it away and gives another, under each real generator.
func TestWorkerSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := new(uidtest.WorkerSource)
		layout := uidtest.Layout()
		for i := range int64(3) {
			var gen interface {
				uid.Generator
				Worker() int64
			}
			var err error
			switch i {
			case 0:
				gen, err = uid.NewCached(t.Context(), source, uid.CachedConfig{Layout: layout})
			case 1:
				gen, err = uid.NewDefault(t.Context(), source, uid.DefaultConfig{Layout: layout})
			case 2:
				gen, err = uid.NewSlots(t.Context(), source, uid.SlotsConfig{Layout: layout})
			}
			if err != nil || gen.Worker() != 2*i+1 {
				t.Fatalf("%v, worker %d", err, gen.Worker())
			}
			source.Lose(lease.ErrLost)
			if _, err := gen.Next(); !errors.Is(err, uid.ErrReservation) || !errors.Is(err, lease.ErrLost) {
				t.Errorf("%T without a number: %v", gen, err)
			}
			need.Must(t, source.Replace())
			if _, err := gen.Next(); err != nil || gen.Worker() != 2*i+2 {
				t.Errorf("%T with another number: %v, worker %d", gen, err, gen.Worker())
			}
			gen.Close()
		}
		unavailable := errors.New("unavailable")
		source.Fail(unavailable)
		if _, err := uid.NewDefault(t.Context(), source, uid.DefaultConfig{Layout: layout}); err != unavailable {
			t.Error(err)
		}
		source.Fail(nil)
		layout.WorkerBits, layout.SequenceBits = 2, layout.SequenceBits+layout.WorkerBits-2
		_, err := uid.NewDefault(t.Context(), source, uid.DefaultConfig{Layout: layout})
		need.Error(t, err, lease.ErrExhausted)
	})
}
