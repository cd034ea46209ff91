package segment_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

// panicky returns a store that panics in a method.
func panicky(in string) *counter {
	return &counter{around: func(_ context.Context, method string, do func() error) error {
		if "Store."+method == in {
			panic("no")
		}
		return do()
	}}
}

// wantPanic wants an error that says which method of the store panicked, and nothing of
// other packages.
func wantPanic(t *testing.T, err error, in string) {
	t.Helper()
	var panicked *uid.PanicError
	if !errors.As(err, &panicked) || !strings.Contains(err.Error(), "segment: panic in "+in+": no") {
		t.Errorf("%v, want a PanicError in %s", err, in)
	}
}

// A panic of the store is an error, whoever calls the store, in whichever goroutine.
func TestStorePanics(t *testing.T) {
	create := segment.Config{Create: true}
	for _, in := range []string{"Store.Reserve", "Store.Create", "Store.List"} {
		_, err := segment.New(t.Context(), panicky(in), "orders", create)
		wantPanic(t, err, in)
		_, err = openTags(t, panicky(in), segment.TagsConfig{Config: create}).Next(t.Context(), "orders")
		wantPanic(t, err, in)
		_, err = segment.NewStriped(t.Context(), []segment.Store{panicky(in)}, "orders", segment.StripedConfig{Config: create})
		wantPanic(t, err, in)
	}
	err := open(t, panicky("Store.Return"), segment.Config{}).Close()
	if wantPanic(t, err, "Store.Return"); !strings.Contains(err.Error(), "return 1000 ids") {
		t.Errorf("Close() = %v, want that 1000 ids are not returned", err)
	}
}
