package segmentsql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/sqldb"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
)

// Invoices are numbered 1, 2, 3 and so on: a rolled-back transaction leaves no gap.
func ExampleStore_NextGapless() {
	type Invoice struct {
		Number int64 `gorm:"primaryKey;autoIncrement:false"`
		Buyer  string
	}
	ctx := context.Background()
	db, err := dbtest.Open(":memory:")
	check(err)
	defer dbtest.Close(db)
	check(db.AutoMigrate(&Invoice{}))
	counters := segmentsql.NewLeafAlloc(db, segmentsql.Config{})
	check(counters.CreateGapless(ctx, "invoices", 1))

	for _, buyer := range []string{"ann", "nobody", "bob"} {
		err := db.Transaction(func(tx *gorm.DB) error {
			number, err := counters.NextGapless(tx, "invoices")
			if err != nil {
				return err
			}
			if buyer == "nobody" {
				return errors.New("no buyer")
			}
			return tx.Create(&Invoice{number, buyer}).Error
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	var invoices []Invoice
	check(db.Order("number").Find(&invoices).Error)
	fmt.Println(invoices)
	// Output:
	// no buyer
	// [{1 ann} {2 bob}]
}

// ledger is a gapless counter beside a table that has a row for each number.
type ledger struct {
	*dbtest.Store
	counters *segmentsql.Store
	numbers  string
}

func newLedger(t testing.TB, kind string) ledger {
	t.Helper()
	s := dbtest.New(t, kind)
	l := ledger{s, leafAlloc(s), s.Table + "_numbers"}
	t.Cleanup(func() { s.Exec(t, "DROP TABLE IF EXISTS %s", l.numbers) })
	must(t, l.counters.CreateGapless(t.Context(), "invoices", 1))
	s.Exec(t, "CREATE TABLE %s (number BIGINT)", l.numbers) // without a key, so that a repeat is found
	return l
}

// invoice draws a number in a transaction, which is rolled back if there is none.
func invoice(db *gorm.DB, store *segmentsql.Store) (number int64, err error) {
	err = db.Transaction(func(tx *gorm.DB) error {
		number, err = store.NextGapless(tx, "invoices")
		return err
	})
	return number, err
}

func (l ledger) insert(tx *gorm.DB, number int64) error {
	return tx.Exec("INSERT INTO "+l.numbers+" (number) VALUES (?)", number).Error
}

// record draws a number and inserts its row.
func (l ledger) record(tx *gorm.DB) error {
	number, err := l.counters.NextGapless(tx, "invoices")
	return errors.Join(err, l.insert(tx, number))
}

// want wants the numbers from 1 to n in the table, and n+1 next.
func (l ledger) want(t testing.TB, n int) {
	t.Helper()
	var numbers []int
	must(t, l.DB.Raw("SELECT number FROM "+l.numbers+" ORDER BY number").Scan(&numbers).Error)
	for i, number := range numbers {
		if number != i+1 {
			t.Fatalf("number %d follows %d", number, i)
		}
	}
	if next, err := l.counters.Raise(t.Context(), "invoices", 0); len(numbers) != n || int(next) != n+1 || err != nil {
		t.Errorf("%d numbers, and the next is %d, %v, want %d numbers", len(numbers), next, err, n)
	}
}

var errRolledBack = errors.New("rolled back")

// A counter that another service left at 0 gives 1 first. One can begin in the transaction that draws from it.
func TestGaplessFromZero(t *testing.T) {
	for _, kind := range dbtest.Kinds {
		t.Run(kind, func(t *testing.T) {
			l := newLedger(t, kind)
			l.Exec(t, "UPDATE %s SET max_id = 0", l.Table)
			must(t, l.DB.Transaction(l.record))
			l.want(t, 1)
			must(t, l.DB.Transaction(func(tx *gorm.DB) error {
				err := tx.Exec("INSERT INTO " + l.Table + " (biz_tag, max_id, step) VALUES ('tenant', 1, 0)").Error
				number, failed := l.counters.NextGapless(tx, "tenant")
				if number != 1 {
					t.Errorf("the first number is %d, want 1", number)
				}
				return errors.Join(err, failed)
			}))
		})
	}
}

// 50 writers run transactions at once, and every third is rolled back. Whichever of three ways
// draws the numbers, those of committed transactions have no gap.
func TestGapless(t *testing.T) {
	need.Time(t)
	for _, kind := range dbtest.Kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			l := newLedger(t, kind)
			pool, err := l.DB.DB()
			must(t, err)
			pool.SetMaxOpenConns(50)
			ways := []func(end error) error{
				func(end error) error {
					return l.DB.Transaction(func(tx *gorm.DB) error { return errors.Join(l.record(tx), end) })
				},
				func(end error) error { // in a savepoint
					return l.DB.Transaction(func(tx *gorm.DB) error { return errors.Join(end, tx.Transaction(l.record)) })
				},
				func(end error) error {
					return l.DB.Transaction(func(tx *gorm.DB) error {
						number, err := l.counters.NextGaplessTx(t.Context(), tx.Statement.ConnPool.(*sql.Tx), "invoices")
						return errors.Join(err, l.insert(tx, number), end)
					})
				},
			}
			var committed atomic.Int64
			var writers sync.WaitGroup
			for w := range 50 {
				writers.Go(func() {
					for i := range 6 {
						end := error(nil)
						if i%3 == 2 {
							end = errRolledBack
						}
						err := ways[(w+i)%len(ways)](end)
						for err != nil && sqldb.KindOf(kind).Transient(err) {
							err = ways[(w+i)%len(ways)](end)
						}
						if !errors.Is(err, end) {
							t.Errorf("got %v, want %v", err, end)
						} else if err == nil {
							committed.Add(1)
						}
					}
				})
			}
			writers.Wait()
			if committed.Load() != 200 {
				t.Errorf("%d transactions were committed, want 200", committed.Load())
			}
			l.want(t, int(committed.Load()))
		})
	}
}

// On SQLite, a transaction that begins without the write lock waits for other writers when it
// draws a number.
func TestGaplessDeferred(t *testing.T) {
	l := newLedger(t, "sqlite")
	db := l.Open(t, l.With("_txlock=deferred"))
	read, second := make(chan struct{}, 9), make(chan error)
	must(t, db.Callback().Row().After("gorm:row").Register("test:read", func(*gorm.DB) { read <- struct{}{} }))
	must(t, db.Transaction(func(tx *gorm.DB) error {
		must(t, l.record(tx))
		read = make(chan struct{}, 9)
		go func() { second <- db.Transaction(l.record) }()
		select {
		case <-read: // what the first has not committed yet is missing
		case <-time.After(200 * time.Millisecond):
		}
		return nil
	}))
	must(t, <-second)
	l.want(t, 2)
}

// A counter of a segment becomes gapless beside a generator that runs. From then on neither
// the generator nor Leaf reserves ids of it, no number repeats, and none is given back.
func TestGaplessBesideSegment(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, s *dbtest.Store) {
		store := leafAlloc(s)
		must(t, store.Create(t.Context(), "invoices", 1, 10))
		gen := open(t, store, "invoices", segment.Config{Step: 10, MaxStep: 10, Logger: quiet})
		s.Exec(t, "UPDATE %s SET step = 0", s.Table)
		seen := map[uid.ID]bool{}
		draw := func() {
			t.Helper()
			number, err := invoice(s.DB, store)
			if seen[uid.ID(number)] || err != nil {
				t.Errorf("number %d, %v; drawn before: %v", number, err, seen[uid.ID(number)])
			}
			seen[uid.ID(number)] = true
		}
		draw()
		id, err := gen.Next()
		for ; err == nil && id < 100; id, err = gen.Next() {
			if seen[id] {
				t.Fatalf("id %d was drawn before", id)
			}
			seen[id] = true
		}
		wantErr(t, err, segment.ErrUnusable, "gapless")
		must(t, gen.Close())
		draw()
		before := len(seen)
		s.Exec(t, "UPDATE %s SET max_id = max_id + step WHERE biz_tag = 'invoices'", s.Table) // as Leaf reserves
		draw()
		draw()
		if next, err := store.Raise(t.Context(), "invoices", 0); len(seen) != before+2 || int(next) < before+3 || err != nil {
			t.Errorf("the next number is %d, %v, after %d", next, err, len(seen))
		}
		_, err = segment.New(t.Context(), store, "invoices", segment.Config{Step: 5})
		wantErr(t, err, segment.ErrUnusable)
	})
}
