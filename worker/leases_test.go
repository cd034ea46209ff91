package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/internal/holding"
	"github.com/uidring/uidring/worker/lease"
)

// Each number is listed with who has it, since when and how far, by the database's
// clock.
func TestLeases(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		db := s.elsewhere(t)
		begun := time.Now().Truncate(time.Millisecond)
		container := lease.Node{Host: "pod-ä-1", Port: "80", Type: lease.NodeContainer}
		for range 3 {
			holding.Take(t, s.leaser(db), max22)
		}
		freed := holding.Take(t, s.leaser(db, container), max22)
		release(t, freed, begun.Add(-time.Hour))
		taken := holding.Take(t, s.leaser(db), max22).Last() // what has been given back
		s.Exec(t, "UPDATE %s SET heartbeat_at = heartbeat_at - 60000 WHERE worker_id = 1", s.Table)
		if err := s.leaser(db).Free(context.Background(), 0, true); err != nil {
			t.Fatal(err)
		}
		ended := time.Now()

		a := s.leaser(s.DB)
		rows, err := a.Leases(context.Background(), 0)
		if err != nil || len(rows) != 4 {
			t.Fatalf("Leases = %+v, %v; want 4 rows", rows, err)
		}
		for i, row := range rows {
			number := int64(3 - i)
			state := []lease.State{lease.StateFree, lease.StateExpired, lease.StateHeld, lease.StateHeld}[number]
			if row.Number != number || row.State != state || row.Host != node.Host || row.Port != node.Port || row.Type != node.Type {
				t.Errorf("row %+v, want number %d, %s, of %+v", row, number, state, node)
			}
			if row.Created.Before(begun) || row.Created.After(ended) {
				t.Errorf("row %+v: created is not in %v..%v", row, begun, ended)
			}
			heartbeat := row.HeartbeatAt
			if state == lease.StateExpired {
				heartbeat = heartbeat.Add(time.Minute)
			}
			if state == lease.StateFree && !heartbeat.IsZero() || state != lease.StateFree && (heartbeat.Before(begun) || heartbeat.After(ended)) {
				t.Errorf("row %+v: the heartbeat is not in %v..%v", row, begun, ended)
			}
			if window := row.ReservedUntil.Add(-lease.DefaultWindow); window.Before(begun) || window.After(ended) {
				t.Errorf("row %+v: not reserved for %v", row, lease.DefaultWindow)
			}
		}
		if taken.Number != 3 || taken.Until.UnixMilli() != rows[0].ReservedUntil.UnixMilli() {
			t.Errorf("%v is granted, and listed as %+v", taken, rows[0])
		}
		for limit, want := range map[int]int{-1: 4, 1: 1, 3: 3, 9: 4} {
			if rows, err := a.Leases(context.Background(), limit); err != nil || len(rows) != want || rows[0].Number != 3 {
				t.Errorf("Leases(%d) = %+v, %v; want %d rows, the highest first", limit, rows, err, want)
			}
		}
	})
}

// A holder gives signs of life, by which others tell that it lives.
func TestHeartbeat(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		holding.Take(t, s.leaser(s.DB, quickly), max22)
		first, _ := s.row(t, 0)
		servertest.Eventually(t, "there are more signs of life", func() bool {
			r, _ := s.row(t, 0)
			return r.Heartbeat > first.Heartbeat && r.Token != first.Token
		})
	})
}

// How long a number is held without a sign of life is the reader's own expiry to
// judge by.
func TestStateByExpiry(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		holding.Take(t, s.leaser(s.DB), max22).Kill()
		servertest.Eventually(t, "the number expires", func() bool {
			rows, err := s.leaser(s.DB, quickly).Leases(context.Background(), 1)
			if err != nil {
				t.Fatal(err)
			}
			return rows[0].State == lease.StateExpired
		})
		rows, err := s.leaser(s.DB).Leases(context.Background(), 1)
		if err != nil || rows[0].State != lease.StateHeld {
			t.Errorf("Leases = %+v, %v; want it held", rows, err)
		}
	})
}

// A number is freed when its holder is dead, or by force, and what was reserved
// stays reserved.
func TestFree(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		ctx := context.Background()
		a := s.leaser(s.DB)
		for _, number := range []int64{0, -1} {
			if err := a.Free(ctx, number, true); !errors.Is(err, worker.ErrNoTable) {
				t.Errorf("Free(%d) = %v; want ErrNoTable", number, err)
			}
		}
		h := holding.Take(t, a, max22)
		for _, number := range []int64{-1, 1, max22} {
			if err := a.Free(ctx, number, true); !errors.Is(err, lease.ErrNoLease) {
				t.Errorf("Free(%d) = %v; want ErrNoLease", number, err)
			}
		}
		before, _ := s.row(t, 0)
		if err := a.Free(ctx, 0, false); !errors.Is(err, lease.ErrHeld) {
			t.Errorf("Free = %v; want ErrHeld", err)
		} else {
			wantAll(t, err, "number 0", s.Table, "1m0s")
		}
		if after, _ := s.row(t, 0); after != before {
			t.Errorf("row %+v, want it left alone as %+v", after, before)
		}
		h.Kill()
		servertest.Eventually(t, "the holder is dead", func() bool {
			err := s.leaser(s.DB, quickly).Free(ctx, 0, false)
			if err != nil && !errors.Is(err, lease.ErrHeld) {
				t.Fatal(err)
			}
			return err == nil
		})
		for range 2 { // a free number is freed without an error
			if after, _ := s.row(t, 0); after.Heartbeat != 0 || after.Token == before.Token || after.Reserved != before.Reserved {
				t.Errorf("row %+v, want it free and reserved as %+v", after, before)
			}
			if err := a.Free(ctx, 0, false); err != nil {
				t.Error(err)
			}
		}
		if g := holding.Take(t, a, 0).Last(); g.Number != 0 || g.From.UnixMilli() != before.Reserved {
			t.Errorf("%v; want number 0 from %d", g, before.Reserved)
		}
	})
}

func TestListWithoutTable(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		_, nodes := s.registry(s.DB).Nodes(context.Background(), 1)
		_, leases := s.leaser(s.DB).Leases(context.Background(), 1)
		for prefix, err := range map[string]error{"worker: ": nodes, "lease: ": leases} {
			if !errors.Is(err, worker.ErrNoTable) || !strings.HasPrefix(err.Error(), prefix+"list "+s.Table+": ") || strings.Count(err.Error(), "no such table") > 1 {
				t.Errorf("%v; want ErrNoTable", err)
			}
		}
	})
}
