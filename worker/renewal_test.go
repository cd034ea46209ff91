package worker_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/worker/internal/holdertest"
)

// A renewal is one statement, which MySQL's driver need not prepare.
func TestRenewalIsOneStatement(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		s.create(t)
		db, pool := s.Pooled(t)
		h := holdertest.Take(t, s.leaser(db, quiet), max22)
		h.Renew(t)
		var mu sync.Mutex
		var statements []string
		pool.Set(dbtest.Faults{Statement: func(_ context.Context, query string) error {
			mu.Lock()
			defer mu.Unlock()
			statements = append(statements, query)
			return nil
		}})
		began := time.Now()
		for range 3 {
			h.Renew(t)
		}
		pool.Heal()
		if time.Since(began) > 10*time.Second {
			t.Skip("the machine was so slow that the holder renewed by itself")
		}
		for _, text := range statements {
			if !strings.HasPrefix(text, "UPDATE ") || s.Kind == "mysql" && strings.Contains(text, "?") {
				t.Errorf("a renewal sends %s", text)
			}
		}
		if len(statements) != 3 {
			t.Errorf("3 renewals send %d statements", len(statements))
		}
	})
}
