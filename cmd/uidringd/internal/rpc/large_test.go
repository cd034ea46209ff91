package rpc

import (
	"context"
	"testing"
)

// An answer that is refused counts no longer. The greatest answer may be alone.
func TestLarge(t *testing.T) {
	l, ctx := new(large), context.WithValue(t.Context(), callKey{}, new(call))
	if err := l.enter(ctx, most-small); err != nil {
		t.Fatal(err)
	}
	if err := l.enter(ctx, 2*small); err == nil {
		t.Error("an answer above the bound is admitted")
	}
	l.leave(ctx, most-small)
	if err := l.enter(ctx, most); err != nil {
		t.Errorf("%v; want room for one answer", err)
	}
}
