package rpc

import (
	"context"
	"testing"
)

// The ids of all large answers are bounded, whoever reads them. An answer that is refused, or
// small, does not count.
func TestLargeOfAll(t *testing.T) {
	c := new(call)
	ctx, l := context.WithValue(t.Context(), callKey{}, c), new(large)
	for _, tt := range []struct {
		n  int64
		ok bool
	}{{most - small - 1, true}, {small + 2, false}, {small + 1, true}, {small + 1, false}, {small, true}, {most + 1, true}} {
		if c.held = 0; (l.enter(ctx, tt.n) == nil) != tt.ok || (c.held > 0) != (tt.ok && tt.n > small && tt.n <= most) {
			t.Errorf("%d ids: it holds %d, want it admitted: %t", tt.n, c.held, tt.ok)
		}
	}
	if n := l.ids.Load(); n != most {
		t.Errorf("%d ids are counted, want %d", n, most)
	}
}
