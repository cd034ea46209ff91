package lease

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/uidring/uidring/worker/lease/leasestore"
)

// ErrLayout is matched by a LayoutError.
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
