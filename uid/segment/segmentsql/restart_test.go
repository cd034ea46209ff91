package segmentsql_test

import (
	"fmt"
	"testing"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
)

// On one row, 1,000 starts that end cleanly leave no gap. Then 1,000 that are killed, and
// so return nothing, leave gaps of two ranges at most, and no repeat.
func TestRestartsOnOneRow(t *testing.T) {
	t.Parallel()
	s := dbtest.At(t, "sqlite", ":memory:") // no disk to wait for
	store := segmentsql.LeafAlloc(s.DB, segmentsql.Config{Table: s.Table})
	if err := store.Create(t.Context(), "orders", 1, 10); err != nil {
		t.Fatal(err)
	}
	last := uid.ID(0)
	for start := range 2000 {
		from, gap := segment.Store(store), uid.ID(0)
		if start >= 1000 {
			from, gap = struct{ segment.Store }{store}, 20 // which is no Returner
		}
		gen, err := segment.New(t.Context(), from, "orders", segment.Config{MaxStep: 10})
		if err != nil {
			t.Fatal(err)
		}
		for range 1 + start%17 {
			id, err := gen.Next()
			if err != nil || id <= last || id > last+1+gap {
				t.Fatalf("start %d: id %d, %v after %d", start, id, err, last)
			}
			last = id
		}
		if err := gen.Close(); err != nil {
			t.Fatalf("start %d: Close() = %v", start, err)
		}
	}
}

// A counter begins at 1 or above.
func TestCreateFrom(t *testing.T) {
	t.Parallel()
	s := dbtest.At(t, "sqlite", ":memory:")
	store := segmentsql.LeafAlloc(s.DB, segmentsql.Config{Table: s.Table})
	for _, next := range []int64{0, -1} {
		want := fmt.Sprintf(`segmentsql: create "orders" from %d, want 1 or more`, next)
		if err := store.Create(t.Context(), "orders", next, 10); err == nil || err.Error() != want {
			t.Errorf("Create() from %d = %v, want %s", next, err, want)
		}
	}
	if err := store.Create(t.Context(), "orders", 1, 10); err != nil {
		t.Error(err)
	}
}
