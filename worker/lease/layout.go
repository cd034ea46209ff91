package lease

import (
	"context"
	"errors"
	"fmt"
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
		"Use the store's layout; or, if these ids never share a column with the store's, use a separate table, prefix or path, or set NoOtherTable in the worker.StoreConfig or RegistryConfig; "+
		"or, if bits.NewSuccession shows that they cannot collide, name the store's layout in the config's PreviousLayout",
		ErrLayout, e.Layout, e.Remembered)
}

// Is reports whether target is ErrLayout.
func (e *LayoutError) Is(target error) bool { return target == ErrLayout }

// CheckLayout compares r.Layout with the layout that a store remembers, using the store's
// SwapLayout. A Leaser calls it before it takes a number. The error is the one that swap returned,
// or a LayoutError.
func (r Request) CheckLayout(ctx context.Context, swap func(ctx context.Context, old, layout string) (string, error)) error {
	if r.Layout == "" {
		return nil
	}
	remembered, err := swap(ctx, "", r.Layout)
	if err == nil && remembered == r.PreviousLayout {
		remembered, err = swap(ctx, remembered, r.Layout)
	}
	if err == nil && remembered != r.Layout {
		err = &LayoutError{r.Layout, remembered}
	}
	return err
}
