package worker_test

import (
	"errors"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// A Backfill makes ids under a number that a Registry has just given. It refuses every
// other number, new or not, and gives a leased one back.
func TestBackfillNumbers(t *testing.T) {
	t.Setenv("POD_NAME", "billing-7")
	db := dbtest.New(t, "sqlite").DB
	registry, leaser := worker.NewRegistry(db, worker.RegistryConfig{}), worker.NewLeaser(db, lease.Config{})
	alone := worker.NewStore(db, worker.StoreConfig{Alone: true})
	for name, c := range map[string]struct {
		leaser uid.Leaser
		fresh  bool
	}{
		"Registry":                  {registry, true},
		"attested Registry":         {worker.Attest(registry, time.Minute, worker.ResponseStopIssuing), true},
		"Leaser":                    {leaser, false},
		"Leaser that asks for one":  {lease.New(alone, lease.Config{Assigner: uid.StaticWorker(9)}), false},
		"Leaser of what is given":   {lease.New(alone, lease.Config{Assigner: registry}), false},
		"StatefulSet":               {worker.StatefulSet(), false},
		"StaticWorker":              {uid.StaticWorker(11), false},
		"an Assigner of the user's": {lease.Forever(uid.StaticWorker(12)), false},
	} {
		b, err := uid.NewBackfill(t.Context(), c.leaser, uid.BackfillConfig{})
		if !c.fresh {
			if !errors.Is(err, uid.ErrUsedNumber) {
				t.Errorf("%s: NewBackfill() = %v, want ErrUsedNumber", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: NewBackfill() = %v", name, err)
			continue
		}
		id, err := b.At(time.Now().Add(-time.Hour))
		parts, fault := b.Parse(id)
		if live, gave := registry.Assign(t.Context(), max22); errors.Join(err, fault, gave) != nil || parts.Worker >= live {
			t.Errorf("%s: id %d is %+v, %v; the next number is %d, %v", name, id, parts, err, live, gave)
		}
		if err := b.Close(); err != nil {
			t.Errorf("%s: Close() = %v", name, err)
		}
	}
	rows, err := leaser.Leases(t.Context(), 0)
	for _, row := range rows {
		if row.State != lease.StateFree {
			t.Errorf("number %d is %v, want it to be given back", row.Number, row.State)
		}
	}
	if len(rows) == 0 || err != nil {
		t.Errorf("Leases() = %v, %v, want the numbers that were refused", rows, err)
	}
}
