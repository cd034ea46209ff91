package worker_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// before is a Store with the statements of the builds in which a holder chose its new number:
// Look shows the next, Insert fails if another process was faster, and no count has its range.
type before struct {
	*worker.Store
	db *gorm.DB
}

func (b before) Look(ctx context.Context, within leasestore.Range, full bool, expiry time.Duration) (leasestore.View, error) {
	view, err := b.Store.Look(ctx, within, true, expiry)
	if err != nil || full {
		return view, err
	}
	return view, b.db.WithContext(ctx).Raw("SELECT COALESCE(MAX(CASE WHEN worker_id BETWEEN ? AND -1 THEN reserved_until WHEN worker_id >= ? THEN worker_id + 1 END), ?) FROM "+
		b.String(), -1-within.To, within.From, within.From).Scan(&view.Next).Error
}

func (b before) Insert(ctx context.Context, w leasestore.Write) (number int64, done bool, err error) {
	for !done && err == nil {
		if w.Fresh {
			view, err := b.Look(ctx, w.Within, false, w.Expiry)
			if w.Number = view.Next; err != nil || w.Number > w.Within.To {
				return w.Number, false, err
			}
		}
		if done, err = b.insert(ctx, w); !w.Fresh {
			break
		}
	}
	return w.Number, done, err
}

func (b before) insert(ctx context.Context, w leasestore.Write) (done bool, err error) {
	const insert = " (worker_id, token, reserved_until, heartbeat_at, host, port, type, created) VALUES "
	row, next, now := -1-w.Within.From, w.Number+1, time.Now().UnixMilli()
	err = b.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		raised := tx.Exec("UPDATE "+b.String()+" SET reserved_until = ? WHERE worker_id = ? AND reserved_until < ?", next, row, next)
		if raised.Error == nil && raised.RowsAffected == 0 {
			var counts int64
			if err := tx.Raw("SELECT COUNT(*) FROM "+b.String()+" WHERE worker_id = ?", row).Scan(&counts).Error; err != nil || counts > 0 && w.Fresh {
				return err
			} else if counts == 0 {
				if err := tx.Exec("INSERT INTO "+b.String()+insert+"(?, '-', ?, 0, '-', '-', 0, ?)", row, next, now).Error; err != nil {
					return err
				}
			}
		}
		result := tx.Exec("INSERT INTO "+b.String()+insert+"(?, ?, ?, ?, ?, ?, ?, ?)",
			w.Number, w.Token, w.Until, now, w.Node.Host, w.Node.Port, w.Node.Type, now)
		done = raised.Error == nil && result.RowsAffected == 1
		return errors.Join(raised.Error, result.Error)
	})
	if err != nil && ctx.Err() == nil { // another process was faster, or holds a lock
		return false, nil
	}
	return done && err == nil, err
}

// Processes of the build before and of this one share a table that the former made, whoever
// starts first. No number is held twice, and none whose row was deleted is given again.
func TestBesideTheBuildBefore(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		s.create(t) // the same table
		leaser := func(old bool) *lease.Leaser {
			db := s.Open(t, s.URL)
			var st leasestore.Store = worker.NewStore(db, worker.StoreConfig{Table: s.Table, NoOtherTable: true})
			if old {
				st = before{st.(*worker.Store), db}
			}
			return lease.New(st, lease.Config{Logger: slog.New(slog.DiscardHandler)})
		}
		holdertest.Take(t, leaser(true), max22)
		given := map[int64]bool{0: true}
		for round := range 3 {
			var starts sync.WaitGroup
			holders := make([]*holdertest.Holder, 8)
			for i := range holders {
				l := leaser(i%2 == 0)
				starts.Go(func() {
					var err error
					if holders[i], err = holdertest.Try(context.Background(), t, l, max22, time.Now); err != nil {
						t.Error(err)
					}
				})
			}
			if starts.Wait(); t.Failed() {
				return
			}
			for i, h := range holders {
				number := h.Last().Number
				if given[number] {
					t.Fatalf("round %d: number %d is given twice", round, number)
				}
				if given[number] = true; i%4 < 2 {
					s.Exec(t, "DELETE FROM %s WHERE worker_id = %d", s.Table, number)
				} else if i == 7 && round == 0 { // once more, by either
					release(t, h, time.Now().Add(-time.Hour))
					delete(given, number)
				}
			}
		}
		wantNumber(t, leaser(false), 1+3*8-1)
	})
}

func wantNumber(t *testing.T, l *lease.Leaser, want int64) {
	t.Helper()
	if got := holdertest.Take(t, l, max22).Last().Number; got != want {
		t.Errorf("number %d, want %d", got, want)
	}
}

// A table that lost its key could have two rows of a number: a start says what to do, and writes
// nothing. With a unique index in place of the key it goes on.
func TestTableWithoutKey(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		s.create(t)
		s.Exec(t, "CREATE TABLE %s_copy AS SELECT * FROM %[1]s", s.Table)
		s.Exec(t, "DROP TABLE %s", s.Table)
		s.Exec(t, "ALTER TABLE %s_copy RENAME TO %[1]s", s.Table)
		s.Exec(t, "CREATE INDEX %s_worker ON %[1]s (worker_id)", s.Table)
		_, err := try(t, s.leaser(s.DB), max22)
		if !errors.Is(err, worker.ErrKey) {
			t.Fatalf("%v, want ErrKey", err)
		}
		_, statement, _ := strings.Cut(err.Error(), "run: ")
		wantAll(t, err, s.Table, "CREATE UNIQUE INDEX")
		wantNumbers(t, s)
		s.Exec(t, "%s", statement)
		wantNumber(t, s.leaser(s.DB).Leaser, 0)
	})
}

// The first start of a range that overlaps another logs both. An assigned number may lie in a
// range.
func TestOverlappingRanges(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		out, db := new(logged.Text), s.Open(t, s.Plain())
		take := func(c lease.Config) {
			t.Helper()
			c.Logger = out.Logger()
			holdertest.Take(t, s.leaser(db, c), max22)
		}
		site := func(from, to int64) lease.Config { return lease.Config{Numbers: &lease.Range{From: from, To: to}} }
		take(site(100, 199))
		take(site(200, 299))
		take(lease.Config{Assigner: uid.NewStaticWorker(195)})
		// The count of an earlier version shows what it gave.
		s.Exec(t, "UPDATE %s SET port = '-', reserved_until = 190 WHERE worker_id = %d", s.Table, -1-100)
		take(site(190, 199))
		if lines := out.String(); lines != "" {
			t.Fatalf("ranges without a common number: %s", lines)
		}
		take(site(189, 220))
		take(site(189, 220))
		wantAll(t, errors.New(out.String()), `range="189 to 220" other="100 to 189"`, `range="189 to 220" other="190 to 199"`, `range="189 to 220" other="200 to 299"`)
		if lines := strings.Count(out.String(), "overlap"); lines != 3 {
			t.Errorf("%d lines, want one for each other range:\n%s", lines, out)
		}
	})
}
