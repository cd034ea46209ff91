package lease

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/uidring/uidring/internal/calls"
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
		"Use the store's layout; or, if these ids never share a column with the store's, use another prefix or path; "+
		"or, if bits.NewSuccession shows that they cannot collide, name the store's layout in the config's PreviousLayout",
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
		layout, err = withTimeout(ctx, &k.timeout, l.remembered)
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

// CheckLayout compares r.Layout with the layout that a store remembers, using the store's
// SwapLayout with terms, whose Layout it sets. It has a store without a layout remember r.Layout. A
// Leaser calls CheckLayout before it takes a number. The error is the one that swap returned, or a
// LayoutError.
func (r Request) CheckLayout(ctx context.Context, terms leasestore.Terms, swap func(ctx context.Context, old string, terms leasestore.Terms) (string, error)) error {
	terms.Layout = cmp.Or(r.Layout, anyLayout)
	remembered, err := swap(ctx, "", terms)
	if err == nil && r.PreviousLayout != "" && remembered == r.PreviousLayout {
		remembered, err = swap(ctx, remembered, terms)
	}
	if err == nil && remembered != terms.Layout && r.Layout != "" {
		err = &LayoutError{r.Layout, remembered}
	}
	return err
}

// anyLayout is what a store remembers where the first holder states no layout.
const anyLayout = "-"

// errNoLayout says that the record of the layout was deleted.
var errNoLayout = errors.New("the store no longer remembers the layout of its ids: the record was deleted or cannot be read")
