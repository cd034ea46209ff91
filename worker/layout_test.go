package worker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// A table belongs to one layout.
func TestLayoutIsRemembered(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		before := assign(t, s.on(s.DB))
		old, next := bits.Registry(), bits.LongLived()
		start := func(layout, succeeds bits.Layout) (*uid.Cached, error) {
			t.Helper()
			gen, err := uid.NewCached(t.Context(), s.on(s.DB), uid.CachedConfig{Layout: layout, PreviousLayout: succeeds})
			if err == nil {
				t.Cleanup(func() { gen.Close() })
			}
			return gen, err
		}
		refused := func(layout, succeeds, remembered bits.Layout) {
			t.Helper()
			rows := s.numbers(t)
			_, err := start(layout, succeeds)
			if !errors.Is(err, lease.ErrLayout) {
				t.Fatalf("a start with %s: %v, want ErrLayout", layout, err)
			}
			wantAll(t, err, layout.String(), remembered.String(), s.Table, "PreviousLayout")
			wantNumbers(t, s, rows...)
		}
		allowed := func(layout, succeeds bits.Layout) *uid.Cached {
			t.Helper()
			gen, err := start(layout, succeeds)
			need.Must(t, err)
			return gen
		}
		if gen := allowed(old, bits.Layout{}); gen.Worker() == before && s.name != "leaser" {
			t.Errorf("number %d is given twice", before)
		}
		allowed(old, next)
		named := old
		named.WorkerParts = "rack:11+host:11" // which changes no id
		allowed(named, bits.Layout{})
		refused(next, bits.Layout{}, old)
		refused(next, bits.Snowflake(), old)
		allowed(next, old)
		allowed(next, old)
		refused(old, bits.Layout{}, next)
		for _, number := range s.numbers(t) {
			if number < 0 {
				t.Errorf("%d is listed as a number", number)
			}
		}
	})
}

// A layout of any length is remembered whole.
func TestLongLayout(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		s.create(t)
		long := leasestore.Terms{Layout: strings.Repeat("0123456789", 10)}
		for range 2 {
			if remembered, err := s.leaser(s.DB).SwapLayout(t.Context(), "", long); remembered != long.Layout || err != nil {
				t.Errorf("%s, %v; want %s", remembered, err, long.Layout)
			}
		}
		if remembered, err := s.leaser(s.DB).SwapLayout(t.Context(), "", leasestore.Terms{}); remembered != long.Layout || err != nil {
			t.Errorf("%s, %v; want %s", remembered, err, long.Layout)
		}
	})
}

// A store that cannot be asked for its layout fails the start, and the error says what was being done.
func TestLayoutCannotBeRead(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		s.create(t)
		db, pool := s.Pooled(t)
		pool.Set(dbtest.Faults{Statement: func(_ context.Context, query string) error {
			if strings.HasPrefix(query, "SELECT host_name AS host") {
				return errMade
			}
			return nil
		}})
		_, err := uid.NewCached(t.Context(), s.on(db), uid.CachedConfig{})
		if !errors.Is(err, errMade) {
			t.Fatalf("%v, want %v", err, errMade)
		}
		wantAll(t, err, fmt.Sprintf("read the layout of %s", s.Table))
	})
}
