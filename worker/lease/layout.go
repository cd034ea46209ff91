package lease

import (
	"context"
	"errors"
	"fmt"

	"github.com/uidring/uidring/internal/calls"
	"github.com/uidring/uidring/worker/internal/agreement"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// ErrLayout is matched by a LayoutError and an UnknownLayoutError.
var ErrLayout = errors.New("lease: the layout differs from the store's")

// LayoutError says that a store's numbers are for ids of another layout. It matches ErrLayout. The
// failed call takes no number.
type LayoutError struct {
	Layout     string // the generator's layout
	Remembered string // the store's layout
}

func (e *LayoutError) Error() string {
	return fmt.Sprintf("%v: this generator has %s, and the store's ids have %s; ids of two layouts can collide. "+
		"Leave the layout out of the config; or, if these ids never share a column with the store's, use another prefix or path; "+
		"or, to have all generators change to the new layout, run: uidring layout change --to %[2]s (uidringd has it for stores other than SQL databases)",
		ErrLayout, e.Layout, e.Remembered)
}

// Is reports whether target is ErrLayout.
func (e *LayoutError) Is(target error) bool { return target == ErrLayout }

// UnknownLayoutError says that a store has numbers, but does not remember the layout of their ids, so
// a generator must state it. It matches ErrLayout. The failed call takes no number.
type UnknownLayoutError struct {
	Store string // the store's name
	Err   error  // what the store can say about it, or nil
}

func (e *UnknownLayoutError) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return fmt.Sprintf("lease: %s has worker numbers, but no record of the layout of their ids; state the layout in the config. "+
		"If Java's uid-generator made the ids, docs/migrating.md shows how to find its widths and epoch", e.Store)
}

// Is reports whether target is ErrLayout.
func (e *UnknownLayoutError) Is(target error) bool { return target == ErrLayout }

// Unwrap returns e.Err.
func (e *UnknownLayoutError) Unwrap() error { return e.Err }

// Layout returns the layout that the store remembers, for a generator whose config states none. In a
// new store, layout is empty and stored is false. If the store has numbers but remembers no layout,
// the error is an UnknownLayoutError. Layout creates nothing, and retries as Lease does.
func (l *Leaser) Layout(ctx context.Context) (layout string, stored bool, err error) {
	if err := l.check(); err != nil {
		return "", false, err
	}
	k := l.keeper()
	err = k.retry(ctx, acquireFor, transient, func() error {
		text, err := withTimeout(ctx, &k.timeout, l.remembered)
		if layout = text; text != "" && err == nil {
			var is agreement.Agreement
			is, err = agreed(text, "")
			layout = is.Layout
		}
		return err
	})
	switch {
	case err == nil:
		return layout, layout != "", nil
	case calls.Named(err) || errors.Is(err, ErrLayout):
		return "", false, err
	}
	return "", false, l.fail(ctx, "read the layout of", err)
}

// remembered returns the store's layout, empty in a new store. A start writes the layout before it
// takes a number, so whoever sees a number and still no layout knows that the layout is gone.
func (l *Leaser) remembered(ctx context.Context) (string, error) {
	layout, err := l.store.SwapLayout(ctx, "", leasestore.Terms{})
	if layout == "" && err == nil {
		rows, failed := l.store.List(ctx, 1, l.config.Expiry)
		switch {
		case errors.Is(failed, leasestore.ErrNotCreated):
		case failed != nil:
			return "", failed
		case len(rows) > 0:
			if layout, err = l.store.SwapLayout(ctx, "", leasestore.Terms{}); layout == "" && err == nil {
				err = &UnknownLayoutError{Store: l.store.String()}
			}
		}
	}
	if layout == anyLayout && err == nil {
		err = &UnknownLayoutError{Store: l.store.String()}
	}
	return layout, err
}

// anyLayout is what a store remembers where the first holder states no layout.
const anyLayout = "-"

// agreed reads what the store remembers, for a generator with a layout. An empty layout accepts any.
func agreed(text, layout string) (agreement.Agreement, error) {
	is, err := agreement.Read(text)
	if err == nil && layout != "" && is.Layout != layout {
		err = &LayoutError{layout, is.Layout}
	}
	return is, err
}
