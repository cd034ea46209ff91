package lease

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/calls"
)

// The zero config is the documented default.
func TestDefaults(t *testing.T) {
	c := New(nil, Config{}).config
	if c.Window != 10*time.Minute || c.Expiry != time.Minute || c.MaxSkew != time.Minute || *c.Numbers != (Range{To: math.MaxInt64}) {
		t.Errorf("%+v, and numbers %+v", c, *c.Numbers)
	}
}

// late is a context whose deadline has passed before its timer ends it.
type late struct{ context.Context }

func (late) Deadline() (time.Time, bool) { return time.Now(), true }

func TestEndOfLateContext(t *testing.T) {
	if err := calls.EndOf(late{t.Context()}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v; want DeadlineExceeded", err)
	}
	if err := calls.EndOf(t.Context()); err != nil {
		t.Error(err)
	}
}
