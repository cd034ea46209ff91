package worker_test

import (
	"context"
	"errors"
	mathrand "math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

// The tests of this file have commits that do not say what they did.

// errAnswer is what there is in place of a commit's answer.
var errAnswer = errors.New("the connection is lost")

func lost(tx *dbtest.Tx) error    { return errors.Join(tx.Tx.Commit(), errAnswer) }
func refused(tx *dbtest.Tx) error { return errors.Join(tx.Tx.Rollback(), errAnswer) }
func nothing(tx *dbtest.Tx) error { return tx.Tx.Rollback() }

// A commit that was lost or refused gives a Registry no number. Neither does one that the
// server confirms and loses.
func TestRegistryCommit(t *testing.T) {
	for name, tt := range map[string]struct {
		commit func(tx *dbtest.Tx) error
		err    error
		rows   []int64
	}{
		"answer lost": {lost, errAnswer, []int64{1}},
		"refused":     {refused, errAnswer, nil},
		"nothing":     {nothing, worker.ErrKey, nil},
	} {
		t.Run(name, func(t *testing.T) {
			on(t, servers, registries, func(t *testing.T, s *store) {
				s.create(t)
				db, pool := s.Pooled(t)
				pool.Set(dbtest.Faults{Commit: func(tx *dbtest.Tx) error {
					if tx.Wrote("INSERT") {
						return tt.commit(tx)
					}
					return tx.Tx.Commit()
				}})
				if number, err := s.registry(db).Assign(context.Background(), max22); number != 0 || !errors.Is(err, tt.err) {
					t.Errorf("%d, %v; want %v", number, err, tt.err)
				}
				wantNumbers(t, s, tt.rows...)
				wantNumbers(t, s, append(tt.rows, assign(t, s.on(s.DB)))...)
			})
		})
	}
}

// A write whose answer is lost may be done much later: after the row has been read
// and found unchanged, and while the next write is waiting for it.
func TestExtendCommitsLate(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		db, pool := s.Waiting(t, 100*time.Millisecond).Pooled(t)
		h := holdertest.Take(t, s.on(db, quickly, quiet), first)
		late, done := make(chan struct{}), make(chan error, 1)
		var first atomic.Bool
		pool.Set(dbtest.Faults{Outlives: true, Commit: func(tx *dbtest.Tx) error {
			if !tx.Wrote("UPDATE") || !first.CompareAndSwap(false, true) {
				return tx.Tx.Commit()
			}
			go func() {
				<-late
				done <- tx.Tx.Commit()
			}()
			return errAnswer
		}})
		before := h.Last().Until
		h.Await(t, "an answer is lost", func(g lease.Grant) bool { return g.Err != nil })
		close(late)
		need.Must(t, <-done)
		pool.Heal()
		h.Await(t, "it is renewed", func(g lease.Grant) bool { return g.Until.After(before) && g.Err == nil })
		h.Kept(t)
		release(t, h, time.Now())
		if r, _ := s.row(t, int64(1)); r.Heartbeat != 0 {
			t.Errorf("row %+v; want it free", r)
		}
	})
}

// The store is linearizable, though commits are lost and refused.
func TestLinearizable(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		s.create(t)
		leasetest.Linearizable(t, func(t *testing.T) leasestore.Store {
			own := *s.Store
			own.DB = s.Open(t, s.URL)
			db, pool := own.Pooled(t)
			return &shaky{worker.NewStore(db, worker.StoreConfig{Prefix: s.prefix}), pool}
		})
	})
}

// shaky is a store whose commits go wrong now and then. It is for one goroutine.
type shaky struct {
	*worker.Store
	pool *dbtest.Pool
}

func (s *shaky) shake() {
	faults := dbtest.Faults{}
	switch mathrand.IntN(12) {
	case 0:
		faults.Commit = lost
	case 1:
		faults.Commit = refused
	}
	s.pool.Set(faults)
}

func (s *shaky) Read(ctx context.Context, number int64, expiry time.Duration) (*leasestore.Row, int64, error) {
	s.pool.Heal()
	return s.Store.Read(ctx, number, expiry)
}

func (s *shaky) Insert(ctx context.Context, w leasestore.Write) (int64, bool, error) {
	s.shake()
	return s.Store.Insert(ctx, w)
}

func (s *shaky) Swap(ctx context.Context, old string, w leasestore.Write) (bool, error) {
	s.shake()
	return s.Store.Swap(ctx, old, w)
}

// A range of 16 numbers gives all 16, however many starts were rolled back.
func TestSixteenNumbersAfterRollbacks(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		s.create(t)
		sixteen := lease.Range{From: 0, To: 15}
		_, err := s.leaser(s.DB).SwapLayout(t.Context(), "", leasestore.Terms{Layout: holdertest.Layout, Chosen: true, Within: sixteen})
		need.Must(t, err)
		db, pool := s.Pooled(t)
		var commits atomic.Int64
		pool.Set(dbtest.Faults{Commit: func(tx *dbtest.Tx) error {
			if tx.Wrote("INSERT") && commits.Add(1)%3 == 0 {
				return refused(tx)
			}
			return tx.Tx.Commit()
		}})
		var failed int
		for held := 0; held < 16; {
			if _, err := holdertest.Try(t.Context(), t, s.on(db, quiet, lease.Config{Numbers: &sixteen}), 15, time.Now); err == nil {
				held++
			} else if failed++; !errors.Is(err, errAnswer) || failed > 20 {
				t.Fatalf("%d are held: %v", held, err)
			}
		}
		wantNumbers(t, s, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
		if failed < 6 {
			t.Errorf("%d starts were rolled back; want more", failed)
		}
	})
}
