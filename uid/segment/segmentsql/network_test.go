package segmentsql_test

import (
	"errors"
	"testing"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
)

// The network to a server is cut and comes back, again and again. No id repeats, and
// ids go on without a new handle.
func TestNetworkCut(t *testing.T) {
	dbtest.On(t, []string{"mysql", "postgres"}, func(t *testing.T, s *dbtest.Store) {
		url, link := s.Linked(t)
		store := segmentsql.LeafAlloc(s.Open(t, url), segmentsql.Config{Table: s.Table})
		gen, err := segment.New(t.Context(), store, "orders", segment.Config{Create: true, Step: 100, MaxStep: 100})
		if err != nil {
			t.Fatal(err)
		}
		defer gen.Close()
		last := uid.ID(0)
		for range 5 {
			link.Cut()
			for {
				id, err := gen.Next()
				if err != nil {
					if !errors.Is(err, segment.ErrUnavailable) {
						t.Errorf("Next() = %v, want ErrUnavailable", err)
					}
					break
				}
				if id <= last {
					t.Fatalf("id %d after %d", id, last)
				}
				last = id
			}
			if err := link.Mend(); err != nil {
				t.Fatal(err)
			}
			for range 250 {
				id, err := gen.Wait(t.Context())
				if err != nil || id <= last {
					t.Fatalf("Wait() = %d, %v after %d", id, err, last)
				}
				last = id
			}
		}
	})
}
