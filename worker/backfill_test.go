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

// A Backfill makes ids under a number that its store has never given, beside those who hold
// others. It refuses a number that is not of a store.
func TestBackfillNumbers(t *testing.T) {
	t.Setenv("POD_NAME", "billing-7")
	db := dbtest.New(t, "sqlite").DB
	registry, leaser := worker.NewRegistry(db, worker.RegistryConfig{}), worker.NewLeaser(db, lease.Config{})
	seen := map[int64]bool{}
	for _, c := range []struct {
		name   string
		leaser uid.Leaser
		want   error // nil is a number
	}{
		{"Leaser", leaser, nil}, // which gives 0, gets it back, and gives another
		{"Leaser again", leaser, nil},
		{"Registry, whose first keys Leasers have", registry, nil},
		{"attested Registry", worker.Attest(registry, time.Minute, worker.ResponseStopIssuing), nil},
		{"Leaser beside a Registry", leaser, nil},
		{"range", worker.NewLeaser(db, lease.Config{Numbers: &lease.Bounds{From: 100, To: 101}}), nil},
		{"range again", worker.NewLeaser(db, lease.Config{Numbers: &lease.Bounds{From: 100, To: 101}}), nil},
		{"range that is used up", worker.NewLeaser(db, lease.Config{Numbers: &lease.Bounds{From: 100, To: 101}}), lease.ErrExhausted},
		{"Leaser that asks for one", worker.NewLeaser(db, lease.Config{Assigner: uid.StaticWorker(9)}), lease.ErrConfig},
		{"StatefulSet", worker.StatefulSet(), uid.ErrUsedNumber},
		{"StaticWorker", uid.StaticWorker(11), uid.ErrUsedNumber},
		{"an Assigner of the user's", lease.Forever(uid.StaticWorker(12)), uid.ErrUsedNumber},
	} {
		b, err := uid.NewBackfill(t.Context(), c.leaser, uid.BackfillConfig{})
		if c.want != nil || err != nil {
			if !errors.Is(err, c.want) {
				t.Errorf("%s: NewBackfill() = %v, want %v", c.name, err, c.want)
			}
			continue
		}
		if _, err := b.At(time.Now().Add(-time.Hour)); err != nil || seen[b.Worker()] {
			t.Errorf("%s: number %d, %v; want another one", c.name, b.Worker(), err)
		}
		seen[b.Worker()] = true
		if err := b.Close(); err != nil {
			t.Errorf("%s: Close() = %v", c.name, err)
		}
	}
}
