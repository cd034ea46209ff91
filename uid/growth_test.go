package uid_test

import (
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

// TestGrowth draws many ids from one generator: as many as UIDRING_GROWTH says, or a few
// million. Its memory does not grow. It prints what an id costs at the beginning and at the
// end.
func TestGrowth(t *testing.T) {
	need.Time(t)
	ids := int64(2_000_000)
	if text := os.Getenv("UIDRING_GROWTH"); text != "" {
		var err error
		ids, err = strconv.ParseInt(text, 10, 64)
		need.Must(t, err)
	}
	g := newCached(t, uid.CachedConfig{MaxBorrow: uid.Unlimited})
	part := max(ids/100, 1)
	last := uid.ID(0)
	draw := func(n int64) time.Duration {
		began := time.Now()
		for range n {
			id, err := g.Next()
			need.Must(t, err)
			if id <= last {
				t.Fatalf("id %d after %d", id, last)
			}
			last = id
		}
		return time.Since(began)
	}
	var before, after runtime.MemStats
	first := draw(part)
	runtime.GC()
	runtime.ReadMemStats(&before)
	draw(ids - 2*part)
	final := draw(part)
	runtime.ReadMemStats(&after)
	collections := after.NumGC - before.NumGC
	runtime.GC()
	runtime.ReadMemStats(&after)
	perID := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / float64(part) }
	grown := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("%d ids: %.2f ns an id in the first %d, %.2f in the last; the heap has grown by %d bytes, with %d collections",
		ids, perID(first), part, perID(final), grown, collections)
	if grown > 1<<20 {
		t.Errorf("the heap has grown by %d bytes, want less than a mebibyte", grown)
	}
}
