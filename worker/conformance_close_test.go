package worker_test

import (
	"context"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/internal/holding"
)

// Release ends with its context while another process has locked the SQLite file, though
// SQLite's drivers wait for the lock even then.
func TestReleaseWhileLocked(t *testing.T) {
	on(t, []string{"sqlite"}, []assigner{attested, leaser}, func(t *testing.T, s *store) {
		patient := *s.Store
		patient.DB = s.Open(t, s.With("_busy_timeout=600000&_pragma=busy_timeout(600000)")) // each driver reads one
		db, pool := patient.Pooled(t)
		from := s.on(db, quick(s)...)
		if s.name == "attested" {
			from = worker.Attest(s.registry(db), time.Second, worker.ResponseStopIssuing)
		}
		h := holding.Take(t, from, max22)
		locker, err := s.DB.DB()
		if err != nil {
			t.Fatal(err)
		}
		conn, err := locker.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		execute := func(statement string) {
			if _, err := conn.ExecContext(context.Background(), statement); err != nil {
				t.Error(err)
			}
		}
		execute("BEGIN EXCLUSIVE")
		t.Cleanup(func() { conn.Close() })
		waiting := make(chan struct{}, 1000)
		pool.Set(dbtest.Faults{Statement: func(context.Context, string) error { waiting <- struct{}{}; return nil }})
		<-waiting // a renewal or a check
		known := len(h.History())
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		released := make(chan error, 1)
		go func() { released <- h.Release(ctx, time.Now()) }()
		select {
		case err := <-released:
			if (err == nil) != (s.name == "attested") { // who has nothing to give back
				t.Errorf("Release: %v", err)
			}
		case <-time.After(time.Minute):
			t.Error("Release waits for the lock")
		}
		execute("ROLLBACK")
		servertest.Eventually(t, "the client has returned", func() bool { return pool.Stats().InUse == 0 })
		if fresh := h.History()[known:]; len(fresh) > 0 && s.name == "attested" {
			t.Errorf("granted %+v after Release", fresh)
		}
	})
}
