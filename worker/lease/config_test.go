package lease

import (
	"math"
	"testing"
	"time"
)

// The zero config is the documented default.
func TestDefaults(t *testing.T) {
	c := New(nil, Config{}).config
	if c.Window != 10*time.Minute || c.Expiry != time.Minute || c.MaxSkew != time.Minute || *c.Numbers != (Bounds{0, math.MaxInt64}) {
		t.Errorf("%+v, and numbers %+v", c, *c.Numbers)
	}
}
