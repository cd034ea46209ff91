package lease

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/worker/internal/agreement"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// # How a layout changes
//
// Generators of the old layout keep running, so only worker numbers keep their ids and new ones apart: no id repeats,
// since
//
//  1. A change first marks the record, by a compare-and-swap. A start, and a holder that lost its number, read the record
//     once they have taken a number, and use none under a marked record or another layout's.
//  2. So a number that is used under the old layout was taken before the mark. The change reads the numbers that
//     were given after it has set the mark, and thus finds all of them.
//  3. The new record has the new layout, and numbers above those under which no id equals one of an earlier layout
//     (see bits.Succession). It replaces exactly this change's mark, which has a token: a change that was
//     stopped for any time writes nothing once another has begun, or ended.
//  4. A start takes its number from those of the record that it read before. The record that it reads once it has
//     taken a number has the same layout, and may have other numbers only if the layout changed twice meanwhile: then
//     the number has to be one of them.
//
// change.pml is the model.

// LayoutChange is a change of a store's layout.
type LayoutChange struct {
	From, To bits.Layout
	Used     int64           // ids of From, or of earlier layouts, can have the numbers 0 to Used; -1 is none
	Numbers  Range           // the numbers with which ids of To cannot equal earlier ids
	Earlier  []EarlierLayout // before From, the oldest first
}

// EarlierLayout is a layout that a store's ids had before a change. Ids with its numbers equal no id of
// the store's other layouts.
type EarlierLayout struct {
	Layout  bits.Layout
	Numbers Range // of ids of Layout; none if From is greater than To
}

// PlanLayout returns what ChangeLayout would do, and changes nothing. For the layout that the store has, it reads
// the record alone.
func (l *Leaser) PlanLayout(ctx context.Context, to bits.Layout) (LayoutChange, error) {
	return l.change(ctx, to, false)
}

// ChangeLayout has the store remember another layout, with the worker numbers under which its ids equal no
// earlier ones. Generators whose config states no layout adopt it when they start again; until then they keep the
// old one. A start that states the old layout is refused from now on. Ids of generators that do not use
// the store, such as Java's uid-generator, are ignored: do not start those afterwards.
//
// If no number is safe, the error matches ErrExhausted and says why, and nothing changes. If ChangeLayout
// fails halfway, starts wait for up to two minutes: call it again, with to or with the layout that the
// store had. The error matches ErrLayout if the store remembers no layout.
func (l *Leaser) ChangeLayout(ctx context.Context, to bits.Layout) (LayoutChange, error) {
	return l.change(ctx, to, true)
}

func (l *Leaser) change(ctx context.Context, to bits.Layout, apply bool) (LayoutChange, error) {
	to.WorkerParts = "" // which change no id
	faults := invalid.Of("lease")
	faults.Wrap("to", to.Validate())
	if err := errors.Join(l.check(), faults.Err()); err != nil {
		return LayoutChange{}, err
	}
	c := &changing{Leaser: l, keeper: l.keeper(), to: to, token: rand.Text()[:8]}
	change, err := c.run(ctx, apply)
	if errors.Is(err, agreement.ErrUnsafe) {
		err = unsafeError{err}
	}
	if err != nil && !errors.Is(err, ErrLayout) {
		err = l.fail(ctx, "change the layout of", err)
	}
	return change, err
}

// unsafeError is why no number of another layout is safe. It matches ErrExhausted.
type unsafeError struct{ error }

func (unsafeError) Is(target error) bool { return target == ErrExhausted }

// changing is a change of the layout that is made.
type changing struct {
	*Leaser
	keeper *keeper // for its retries
	to     bits.Layout
	token  string
}

func (c *changing) run(ctx context.Context, apply bool) (LayoutChange, error) {
	for {
		is, err := c.read(ctx)
		if err != nil {
			return LayoutChange{}, err
		}
		was := is
		was.Change = ""
		if is.Layout == c.to.String() { // and ends a change that another has begun
			if apply && is.Change != "" {
				if done, err := c.swap(ctx, is, was); !done || err != nil {
					return LayoutChange{}, cmp.Or(err, errElse)
				}
			}
			earlier, err := past(is)
			return LayoutChange{From: c.to, To: c.to, Used: -1, Numbers: is.Numbers, Earlier: earlier}, err
		}
		change, _, err := c.plan(ctx, was)
		if err != nil || !apply {
			return change, err
		}
		mark := was
		mark.Change = c.token
		switch done, err := c.swap(ctx, is, mark); {
		case err != nil:
			return LayoutChange{}, err
		case !done:
			continue // the record has changed meanwhile
		}
		return c.end(ctx, was, mark)
	}
}

// end replaces the mark by the new layout or, on failure, by the old one.
func (c *changing) end(ctx context.Context, was, mark agreement.Agreement) (LayoutChange, error) {
	change, next, err := c.plan(ctx, was)
	if counter, ok := c.store.(leasestore.Counter); ok && err == nil && next.Numbers.From > change.Used+1 {
		_, err = c.ask(ctx, func(ctx context.Context) (string, error) { return "", counter.Raise(ctx, next.Numbers.From-1) })
	}
	if err == nil {
		var done bool
		if done, err = c.swap(ctx, mark, next); done || err == nil {
			if !done {
				err = errElse
			}
			return change, err
		}
	}
	cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	_, _ = c.swap(cleanup, mark, was)
	return LayoutChange{}, err
}

var errElse = errors.New("another change of the layout has begun meanwhile")

func (c *changing) read(ctx context.Context) (agreement.Agreement, error) {
	text, err := c.ask(ctx, c.remembered)
	if err == nil && text == "" {
		err = &UnknownLayoutError{c.store.String(), fmt.Errorf("lease: %s remembers no layout yet; the first generator that starts decides, so start one with the layout that you want", c.store)}
	}
	if err != nil {
		return agreement.Agreement{}, err
	}
	return agreement.Parse(text)
}

// swap replaces what the store remembers.
func (c *changing) swap(ctx context.Context, old, next agreement.Agreement) (done bool, err error) {
	text, err := c.ask(ctx, func(ctx context.Context) (string, error) {
		return c.store.SwapLayout(ctx, old.String(), leasestore.Terms{Layout: next.String()})
	})
	return text == next.String(), err
}

// plan reads which numbers have been given, and returns the agreement on the new layout.
func (c *changing) plan(ctx context.Context, was agreement.Agreement) (LayoutChange, agreement.Agreement, error) {
	old, err := bits.ParseLayout(was.Layout)
	if err != nil {
		return LayoutChange{}, was, err
	}
	allocator, err := bits.NewAllocator(old)
	if err != nil {
		return LayoutChange{}, was, err
	}
	earlier, err := past(was)
	if err != nil {
		return LayoutChange{}, was, err
	}
	change := LayoutChange{From: old, To: c.to, Used: -1, Earlier: earlier}
	for _, e := range was.Earlier {
		change.Used = max(change.Used, e.Used)
	}
	_, err = c.ask(ctx, func(ctx context.Context) (string, error) {
		used, err := c.given(ctx, leasestore.Range{To: allocator.MaxWorker()})
		change.Used = max(change.Used, min(used, allocator.MaxWorker()))
		return "", err
	})
	if err != nil {
		return change, was, err
	}
	next, err := was.Next(c.to, change.Used)
	change.Numbers = next.Numbers
	return change, next, err
}

func past(is agreement.Agreement) (earlier []EarlierLayout, err error) {
	layouts, numbers, err := is.Past()
	for i, layout := range layouts {
		earlier = append(earlier, EarlierLayout{layout, numbers[i]})
	}
	return earlier, err
}

// given returns the greatest number that was given, or -1.
func (c *changing) given(ctx context.Context, within leasestore.Range) (greatest int64, err error) {
	view, err := c.store.Look(ctx, within, true, c.config.Expiry)
	if err != nil && !errors.Is(err, leasestore.ErrNotCreated) {
		return -1, err
	}
	greatest = view.Next - 1
	for _, other := range view.Others {
		greatest = max(greatest, other.To)
	}
	rows, err := c.store.List(ctx, 1, c.config.Expiry) // assigned numbers too
	if err != nil && !errors.Is(err, leasestore.ErrNotCreated) {
		return -1, err
	}
	for _, row := range rows {
		greatest = max(greatest, row.Number)
	}
	if counter, ok := c.store.(leasestore.Counter); ok {
		counted, err := counter.Counted(ctx)
		return max(greatest, counted), err
	}
	return greatest, nil
}

func (c *changing) ask(ctx context.Context, f func(context.Context) (string, error)) (text string, err error) {
	err = c.keeper.retry(ctx, acquireFor, transient, func() error {
		text, err = f(ctx)
		return err
	})
	return text, err
}
