package leasetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

func (b bench) leaser(store leasestore.Store, configs ...lease.Config) *lease.Leaser {
	all := lease.Config{Expiry: b.suite.Expiry, Window: time.Hour, Node: holder, Logger: slog.New(slog.DiscardHandler)}
	return lease.New(store, holdertest.Merge(append([]lease.Config{all}, configs...)...))
}

// try leases a number from the bench's handle. At the end of the test its holder is killed.
func (b bench) try(limit int64, configs ...lease.Config) (*holdertest.Holder, error) {
	return holdertest.Try(context.Background(), b, b.leaser(b.Store, configs...), limit, time.Now)
}

// take is try from a new handle, and must succeed.
func (b bench) take(limit int64, configs ...lease.Config) *holdertest.Holder {
	b.Helper()
	h, err := b.another().try(limit, configs...)
	b.must(err)
	return h
}

// upTo is the config of a holder whose numbers are those from 0 to last.
func upTo(last int64) lease.Config { return lease.Config{Numbers: &lease.Range{From: 0, To: last}} }

type number int64

func (n number) Assign(context.Context, int64) (int64, error) { return int64(n), nil }

// life: a holder gives signs of life, and its time is extended, in the grant and in the row.
// The number that it gives back within a tick is given again, from the end of that tick.
func life(b bench) {
	h := b.take(9)
	first := h.Last()
	if !first.Held || first.Until.Before(time.Now()) || first.Err != nil {
		b.Fatalf("granted %+v", first)
	}
	h.Renew(b)
	far := first.Until.Add(24 * time.Hour)
	h.Use(far, far)
	g := h.Await(b, "a day more is reserved", func(g lease.Grant) bool { return g.Until.After(far) })
	row, _, err := b.Read(b.Context(), first.Number, b.suite.Expiry)
	if err != nil || row == nil || row.Until < g.Until.UnixMilli() {
		b.Errorf("row %+v, %v; want it reserved until %v", row, err, g.Until)
	}
	for range 3 { // renewals
		seen := row.Token
		holdertest.Eventually(b, "there is another sign of life", func() bool {
			row, _, err = b.Read(b.Context(), first.Number, b.suite.Expiry)
			return err == nil && row != nil && row.Token != seen
		})
	}
	h.Kept(b)
	next := time.UnixMilli(time.Now().UnixMilli() + 900)
	holdertest.Together(4, func(int) {
		if err := h.Release(b.Context(), next); err != nil {
			b.Error(err)
		}
	})
	if again := b.take(9).Last(); again.Number != first.Number || !again.From.Equal(next) {
		b.Errorf("granted %+v; want number %d from %v", again, first.Number, next)
	}
}

// crash: a holder without signs of life expires, and no other does.
func crash(b bench) {
	b.take(1, lease.Config{Expiry: time.Hour, Numbers: &lease.Range{From: 1, To: 1}})
	var err error
	take := func(from bench) (h *holdertest.Holder) {
		holdertest.Eventually(b, "the number may be taken", func() bool { // also that of a start whose answer was lost
			if h, err = from.try(0, upTo(0)); err != nil && !errors.Is(err, lease.ErrExhausted) {
				b.Fatal(err)
			}
			return err == nil
		})
		return h
	}
	dying := b.another()
	dead := take(dying)
	dead.Kill()
	b.suite.Kill(b.T, dying.Store)
	until := dead.Last().Until // of the row too, or a write under way has raised it
	var row *leasestore.Row
	holdertest.Eventually(b, "the holder is found dead", func() bool {
		row, _, err = b.Read(b.Context(), 0, b.suite.Expiry)
		if err != nil || row == nil || row.Until < until.UnixMilli() || row.Node != node {
			b.Fatalf("%+v, %v; want the row of the holder, reserved until %v", row, err, until)
		}
		return row.State == leasestore.StateExpired
	})
	if other, _, err := b.Read(b.Context(), 1, time.Hour); err != nil || other == nil || other.State != leasestore.StateHeld {
		b.Errorf("%+v, %v; want number 1 held, whose holder lives", other, err)
	}
	if g := take(b).Last(); g.Number != 0 || g.From.UnixMilli() != row.Until {
		b.Errorf("granted %+v; want number 0 from the end of %+v", g, row)
	}
}

// loss: a holder takes another number when its own is freed.
func loss(b bench) {
	h := b.take(9, upTo(9))
	before := h.Last()
	b.must(b.leaser(b.Store).Revoke(b.Context(), before.Number))
	successor := b.take(9, lease.Config{Assigner: number(before.Number)}).Last()
	if successor.Number != before.Number || successor.From.Before(before.Until) {
		b.Errorf("granted %+v, and %+v to the one before", successor, before)
	}
	h.Await(b, "the holder takes another number", func(g lease.Grant) bool { return g.Held && g.Number != before.Number })
	if !h.Lost(lease.ErrLost) {
		b.Error("no grant reports the loss")
	}
}

// numbers: who gets which number, and who is told that there is none.
func numbers(b bench) {
	gets := func(want, limit int64, config lease.Config) {
		b.Helper()
		config.Expiry = time.Minute
		if g := b.take(limit, config).Last(); g.Number != want {
			b.Errorf("granted %+v; want number %d", g, want)
		}
	}
	fails := func(want error, limit int64, config lease.Config) {
		b.Helper()
		config.Expiry = time.Minute
		for wait := 3 * time.Second; ; wait *= 2 {
			ctx, cancel := b.Context(), func() {}
			if errors.Is(want, lease.ErrHeld) { // the start waits for the expiry
				ctx, cancel = context.WithTimeout(ctx, wait)
			}
			own := b.another()
			h, err := holdertest.Try(ctx, b, own.leaser(own.Store, config), limit, time.Now)
			slow := errors.Is(err, context.DeadlineExceeded) && wait < time.Minute // a busy server answers later
			cancel()
			if errors.Is(err, want) || fmt.Sprint(err) == want.Error() {
				return
			}
			if !slow {
				b.Errorf("granted %+v, %v; want %v", h.History(), err, want)
				return
			}
		}
	}
	fifth := lease.Config{Assigner: number(5), Expiry: time.Minute}
	h, next := b.take(99, fifth), time.UnixMilli(time.Now().UnixMilli())
	b.must(h.Release(b.Context(), next))
	if g := b.take(99, fifth).Last(); g.Number != 5 || !g.From.Equal(next) {
		b.Errorf("granted %+v; want number 5 from %v", g, next)
	}
	fails(lease.ErrHeld, 99, fifth)
	// An assigned number leaves the numbers below it to others, who skip it.
	gets(0, 4, upTo(4))
	gets(1, 4, upTo(4))
	gets(2, 4, upTo(99))
	fails(&lease.ExhaustedError{Next: 6, Max: 5, Held: 4, Store: b.String()}, 5, upTo(99))
	gets(6, 99, upTo(99))
	// A range has numbers of its own.
	site := lease.Config{Numbers: &lease.Range{From: 50, To: 51}}
	gets(50, 99, site)
	gets(51, 99, site)
	fails(lease.ErrExhausted, 99, site)
	gets(7, 99, upTo(49))
	leaser := b.leaser(b.Store, lease.Config{Expiry: time.Minute})
	if err := leaser.Free(b.Context(), 0); !errors.Is(err, lease.ErrHeld) {
		b.Errorf("%v; want ErrHeld", err)
	}
	if err := leaser.Revoke(b.Context(), 3); !errors.Is(err, lease.ErrNoLease) {
		b.Errorf("%v; want ErrNoLease", err)
	}
}
