package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/internal/holding"
	"github.com/uidring/uidring/worker/lease"
)

// The number that a source gives is held by one at a time, and free afterwards.
func TestAssignedNumber(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		holding.Take(t, s.leaser(s.DB), max22) // number 0, which nobody asks for
		node := lease.Node{Host: "pod-7", Port: "8080", Type: lease.NodeContainer}
		a := s.leaser(s.DB, lease.Config{Assigner: uid.StaticWorker(7)}, node)
		past := time.Now().Add(-time.Minute)
		for range 2 {
			h := holding.Take(t, a, 7)
			if g := h.Last(); g.Number != 7 {
				t.Errorf("%v; want number 7", g)
			}
			second, err := try(t, a, 7)
			if !errors.Is(err, lease.ErrHeld) || len(second.History()) != 0 {
				t.Errorf("%v, %v; want ErrHeld and no number", second.History(), err)
			}
			wantAll(t, err, "7", s.Table, `host "pod-7", port "8080", last sign of life`)
			release(t, h, past)
		}
		if got := assign(t, s.leaser(s.DB)); got != 7 {
			t.Errorf("number %d, want 7, which is free", got)
		}
		if got := assign(t, s.leaser(s.DB)); got != 8 {
			t.Errorf("number %d, want 8, above all that were given", got)
		}
		wantNumbers(t, s, 0, 7, 8)
	})
}

// Of many that ask for one number at once, one has it.
func TestAssignedNumberAtOnce(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		a := s.leaser(s.DB, lease.Config{Assigner: uid.StaticWorker(0)})
		const starters = 8
		errs := make(chan error)
		for range starters {
			go func() {
				_, err := try(t, a, 0)
				errs <- err
			}()
		}
		won := 0
		for range starters {
			switch err := <-errs; {
			case err == nil:
				won++
			case !errors.Is(err, lease.ErrHeld):
				t.Error(err)
			}
		}
		if won != 1 {
			t.Errorf("%d have the number, want 1", won)
		}
	})
}

// A number that is claimed anew leaves the count of numbers given where it is.
func TestAssignedNumberLeavesTheCount(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		a := s.leaser(s.DB)
		for range 3 {
			assign(t, a)
		}
		s.Exec(t, "DELETE FROM %s WHERE worker_id IN (0, 2)", s.Table)
		if got := assign(t, s.leaser(s.DB, lease.Config{Assigner: uid.StaticWorker(0)})); got != 0 {
			t.Errorf("number %d, want 0", got)
		}
		if got := assign(t, a); got != 3 {
			t.Errorf("number %d, want 3: 2 was given, though its row is gone", got)
		}
	})
}

// A pod holds its ordinal.
func TestWithStatefulSet(t *testing.T) {
	t.Setenv("POD_NAME", "billing-3")
	s := &store{newSQLite(t).Store, leaser}
	a := s.leaser(s.DB, lease.Config{Assigner: worker.StatefulSet()})
	if got := assign(t, a); got != 3 {
		t.Errorf("number %d, want 3", got)
	}
	if _, err := try(t, a, max22); !errors.Is(err, lease.ErrHeld) {
		t.Errorf("%v; want ErrHeld", err)
	}
	t.Setenv("POD_NAME", "billing-4")
	if got := assign(t, a); got != 4 {
		t.Errorf("number %d, want 4", got)
	}
}

// What a source cannot tell, or the layout has no room for, is no number, and
// nothing is written.
func TestAssignedNumberRefused(t *testing.T) {
	s := &store{newSQLite(t).Store, leaser}
	s.create(t)
	unknown := errors.New("who am I?")
	for _, tt := range []struct {
		source lease.Assigner
		want   string
	}{
		{uid.StaticWorker(-1), "number is -1, want 0 to 7"},
		{uid.StaticWorker(8), "number is 8, want 0 to 7"},
		{failingSource{unknown}, "who am I?"},
	} {
		_, err := try(t, s.leaser(s.DB, lease.Config{Assigner: tt.source}), 7)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v; want %q", err, tt.want)
		}
	}
	if _, counted := s.row(t, -1); counted {
		t.Error("something was written")
	}
	wantNumbers(t, s)
}

type failingSource struct{ error }

func (f failingSource) Assign(context.Context, int64) (int64, error) { return 0, f.error }
