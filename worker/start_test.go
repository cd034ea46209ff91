package worker_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/uidring/uidring/internal/test/dbtest"
)

func TestCancelled(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		s.create(t)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := take(t, ctx, s.on(s.DB), max22)
		s.wantFrom(t, ctx, s.DB, context.Canceled, err)
		wantNumbers(t, s)
	})
}

// If the database stops answering, a start ends with its context, at any step. It keeps
// nobody from the table.
func TestHangsAtStart(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		s.create(t)
		db, pool := s.Pooled(t)
		for point := range 30 {
			var sent atomic.Int64
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			pool.Set(dbtest.Faults{Statement: func(ctx context.Context, _ string) error {
				if sent.Add(1) > int64(point) {
					cancel() // the caller's patience ends here, however long it took
					<-ctx.Done()
				}
				return ctx.Err()
			}})
			_, err := take(t, ctx, s.on(db), max22)
			pool.Heal()
			if err == nil && point > 3 {
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("at statement %d: %v", point, err)
			}
			assign(t, s.on(s.DB))
		}
	})
}
