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

// A table belongs to one layout, until that is changed. Then new numbers are those that its ids may have.
func TestLayoutIsRemembered(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		before := assign(t, s.on(s.DB))
		old, next := bits.Registry(), bits.LongLived()
		start := func(layout bits.Layout) (*uid.Cached, error) {
			t.Helper()
			gen, err := uid.NewCached(t.Context(), s.on(s.DB), uid.CachedConfig{Layout: layout})
			if err == nil {
				t.Cleanup(func() { gen.Close() })
			}
			return gen, err
		}
		refused := func(layout, remembered bits.Layout) {
			t.Helper()
			rows := s.numbers(t)
			_, err := start(layout)
			if !errors.Is(err, lease.ErrLayout) {
				t.Fatalf("a start with %s: %v, want ErrLayout", layout, err)
			}
			wantAll(t, err, layout.String(), remembered.String(), s.Table, "layout change --to "+layout.String())
			wantNumbers(t, s, rows...)
		}
		allowed := func(layout bits.Layout) *uid.Cached {
			t.Helper()
			gen, err := start(layout)
			need.Must(t, err)
			return gen
		}
		if gen := allowed(old); gen.Worker() == before && s.name != "leaser" {
			t.Errorf("number %d is given twice", before)
		}
		named := old
		named.WorkerParts = "rack:11+host:11" // which changes no id
		gen := allowed(named)
		last := gen.Worker()
		earlier, err := gen.Next()
		need.Must(t, err)
		refused(next, old)
		refused(bits.Snowflake(), old)
		change, err := s.leaser(s.DB).ChangeLayout(t.Context(), next)
		need.Must(t, err)
		if change.Used < last || change.Numbers.From < 16*(last+1) { // there are fewer sequences, so numbers are greater
			t.Errorf("%+v after number %d", change, last)
		}
		for _, layout := range []bits.Layout{next, {}} {
			gen := allowed(layout)
			if gen.Layout().String() != next.String() || gen.Worker() < change.Numbers.From {
				t.Errorf("number %d of %s; want one from %d", gen.Worker(), gen.Layout(), change.Numbers.From)
			}
			if parts, err := gen.Parse(earlier); !errors.Is(err, bits.ErrForeign) {
				t.Errorf("%d is read as %+v, %v; want that it has an earlier layout", earlier, parts, err)
			}
			id, err := gen.Next()
			need.Must(t, err)
			if parts, err := gen.Parse(id); err != nil || parts.Worker != gen.Worker() {
				t.Errorf("%d is read as %+v, %v; want worker %d", id, parts, err, gen.Worker())
			}
		}
		refused(old, next)
		nodes := s.as(registry)
		nodes.Exec(t, "DELETE FROM %s WHERE id > %d", nodes.Table, last) // as a restore does: the next keys are not among the layout's
		nodes.setNext(t, last+1)
		if _, err = start(next); err == nil {
			t.Fatal("a start took a number that the layout may not have")
		}
		wantAll(t, err, "uidring workers raise NUMBER")
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
