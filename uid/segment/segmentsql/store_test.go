package segmentsql_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/uidring/uidring/internal/processes"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
	"github.com/uidring/uidring/uid/segment/segmenttest"
	"gorm.io/gorm"
)

var must, wantErr = need.Must, need.Error

func TestMain(m *testing.M) {
	segmenttest.Child(func(address string) (segment.Store, error) {
		parts := strings.Split(address, "\n")
		db, err := dbtest.Open(parts[2])
		if err != nil {
			return nil, err
		}
		return kinds[parts[0]].open(db, segmentsql.Config{Table: parts[1]}), nil
	})
	processes.Child(leafVariable, drawBesideLeaf)
	dbtest.Parallel(4)
	// GORM never ends the goroutine that it starts for PrepareStmt.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("gorm.io/gorm/internal/lru.NewLRU[...].func1"))
}

// kind is a kind of table.
type kind struct {
	open      func(*gorm.DB, segmentsql.Config) *segmentsql.Store
	tag, next string // columns
}

var kinds = map[string]kind{
	"LeafAlloc": {segmentsql.NewLeafAlloc, "biz_tag", "max_id"},
	"Sequence":  {segmentsql.NewSequence, "table_name", "next_id"},
}

var errLost = errors.New("connection lost")

// leafAlloc returns the store of the table of s.
func leafAlloc(s *dbtest.Store) *segmentsql.Store {
	return segmentsql.NewLeafAlloc(s.DB, segmentsql.Config{Table: s.Table})
}

// created returns the store of the table of s, with the counter orders from 1.
func created(t *testing.T, s *dbtest.Store) *segmentsql.Store {
	t.Helper()
	store := leafAlloc(s)
	must(t, store.Create(t.Context(), "orders", 1, 10))
	return store
}

// reserves reserves n ids of a tag, and wants them from first.
func reserves(t *testing.T, store *segmentsql.Store, tag string, n, first int64) {
	t.Helper()
	if f, c, err := store.Reserve(t.Context(), tag, n); f != first || n != 0 && c != n || err != nil {
		t.Fatalf("Reserve(%q, %d) = %d, %d, %v, want ids from %d", tag, n, f, c, err, first)
	}
}

// returns gives a range of orders back, and wants that it is done or not.
func returns(t *testing.T, store *segmentsql.Store, first, next int64, want bool) {
	t.Helper()
	if done, err := store.Return(t.Context(), "orders", first, next); done != want || err != nil {
		t.Errorf("Return(%d, %d) = %v, %v, want %v", first, next, done, err, want)
	}
}

// raises raises the counter orders, and wants it at a number then.
func raises(t *testing.T, store *segmentsql.Store, next, want int64) {
	t.Helper()
	if now, err := store.Raise(t.Context(), "orders", next); now != want || err != nil {
		t.Errorf("Raise(%d) = %d, %v, want %d", next, now, err, want)
	}
}

// open returns a generator, until the test ends.
func open(t testing.TB, store segment.Store, tag string, config segment.Config) *segment.Counter {
	t.Helper()
	gen, err := segment.New(t.Context(), store, tag, config)
	must(t, err)
	t.Cleanup(func() { _ = gen.Close() })
	return gen
}

// backend returns a table on a database as the suite wants it, for clients with the URL.
func backend(s *dbtest.Store, name, url string) segmenttest.Backend {
	k, table := kinds[name], segmentsql.Config{Table: s.Table}
	return segmenttest.Backend{
		Address: name + "\n" + s.Table + "\n" + url,
		Store:   func(t *testing.T) segment.Store { return k.open(s.Open(t, url), table) },
		Faulty: func(t *testing.T) (segment.Store, segmenttest.Faults) {
			db, pool := s.Pooled(t)
			return k.open(db, table), faults(pool)
		},
	}
}

func faults(pool *dbtest.Pool) segmenttest.Faults {
	commit := func(done func(tx *dbtest.Tx) error) func(tx *dbtest.Tx) error {
		return func(tx *dbtest.Tx) error {
			if !tx.Wrote("UPDATE") {
				return tx.Tx.Commit()
			}
			return errors.Join(errLost, done(tx))
		}
	}
	return segmenttest.Faults{
		LoseAnswer: func(then func()) {
			pool.Set(dbtest.Faults{Commit: commit(func(tx *dbtest.Tx) error { err := tx.Tx.Commit(); then(); return err })})
		},
		LoseWrite: func() {
			pool.Set(dbtest.Faults{Commit: commit(func(tx *dbtest.Tx) error { return tx.Tx.Rollback() })})
		},
		Cut:  func() { pool.Cut(errLost) },
		Hang: pool.Hang,
		Heal: pool.Heal,
	}
}

func TestConformance(t *testing.T) {
	need.Time(t)
	for _, database := range dbtest.Kinds {
		t.Run(database, func(t *testing.T) {
			t.Parallel()
			for name := range kinds {
				t.Run(name, func(t *testing.T) {
					dbtest.New(t, database) // skips the test where there is no server
					segmenttest.Suite{Open: func(t *testing.T) segmenttest.Backend {
						s := dbtest.New(t, database)
						return backend(s, name, s.URL)
					}}.Run(t)
				})
			}
		})
	}
}

// isolation returns the name of the variable with the level of isolation: MariaDB 10 has another than MySQL.
func isolation(t *testing.T) (name string) {
	t.Helper()
	row := dbtest.New(t, "mysql").DB.Raw("SHOW VARIABLES WHERE Variable_name IN ('transaction_isolation', 'tx_isolation')").Row()
	must(t, row.Scan(&name, new(string)))
	return name
}

// Ranges stay disjoint at every level of isolation.
func TestIsolation(t *testing.T) {
	need.Time(t)
	options := map[string][]string{
		"mysql": {"READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"},
		"postgres": {
			"default_transaction_isolation=read%20committed",
			"default_transaction_isolation=repeatable%20read",
			"default_transaction_isolation=serializable",
		},
		"sqlite": {"_txlock=deferred", "_txlock=exclusive", "_journal_mode=WAL"},
	}
	for _, database := range dbtest.Kinds {
		for _, option := range options[database] {
			t.Run(database+"/"+option, func(t *testing.T) {
				t.Parallel()
				if database == "mysql" {
					option = isolation(t) + "='" + option + "'"
				}
				segmenttest.Suite{Open: func(t *testing.T) segmenttest.Backend {
					s := dbtest.New(t, database)
					return backend(s, "LeafAlloc", s.With(option))
				}}.Races(t)
			})
		}
	}
}

// Ranges are disjoint even in a table without transactions and without locks of rows: a
// counter is written only if it is what was read.
func TestWithoutTransactions(t *testing.T) {
	segmenttest.Suite{Open: func(t *testing.T) segmenttest.Backend {
		s := dbtest.New(t, "mysql")
		s.Exec(t, myISAM, s.Table)
		return backend(s, "LeafAlloc", s.URL)
	}}.Races(t)
}

// Without transactions, the owner of the range below may return it as soon as that above
// is returned. Both returns are done.
func TestReturnsWithoutTransactions(t *testing.T) {
	s := dbtest.New(t, "mysql")
	s.Exec(t, myISAM, s.Table)
	s.Exec(t, "INSERT INTO %s (biz_tag, max_id, step) VALUES ('orders', 21, 10)", s.Table)
	below := segmentsql.NewLeafAlloc(s.Open(t, s.URL), segmentsql.Config{Table: s.Table})
	db := s.Open(t, s.URL)
	above := segmentsql.NewLeafAlloc(db, segmentsql.Config{Table: s.Table})
	err := db.Callback().Raw().After("gorm:raw").Register("test:below", func(*gorm.DB) {
		returns(t, below, 1, 11, true)
	})
	must(t, err)
	returns(t, above, 11, 21, true)
}

// A counter that nothing could be reserved of is not created.
func TestCreateRefused(t *testing.T) {
	store := created(t, dbtest.New(t, "sqlite"))
	for _, c := range []struct {
		tag        string
		next, step int64
		want       string
	}{
		{"users", 0, 10, `segmentsql: create "users" from 0, want 1 or more`},
		{"users", -1, 10, `segmentsql: create "users" from -1, want 1 or more`},
		{"users", 1, 0, `segmentsql: create "users" with step 0, want 1 to 2147483647`},
		{"users", 1, 1 << 31, `segmentsql: create "users" with step 2147483648, want 1 to 2147483647`},
		{"", 1, 10, "segment: invalid tag: it is empty"},
	} {
		if err := store.Create(t.Context(), c.tag, c.next, c.step); err == nil || err.Error() != c.want {
			t.Errorf("Create(%q, %d, %d) = %v, want %s", c.tag, c.next, c.step, err, c.want)
		}
	}
	must(t, store.Create(t.Context(), "users", 1, math.MaxInt32))
}
