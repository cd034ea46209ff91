//go:build linux

package handles_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// client draws from a table by a name.
type client struct {
	table string
	fails error // beside a table with the same name in other letters
	draw  func(t *testing.T, db *gorm.DB, table string) (uid.ID, error)
}

func number(t *testing.T, source uid.WorkerSource) (uid.ID, error) {
	gen, err := uid.NewCached(t.Context(), source, uid.CachedConfig{Logger: quiet})
	if err != nil {
		return 0, err
	}
	return uid.ID(gen.Worker()), gen.Close()
}

func draw(t *testing.T, store *segmentsql.Store) (uid.ID, error) {
	_, unread := store.List(t.Context()) // as the command does
	if err := store.Create(t.Context(), "orders", 1, 10); err != nil && !errors.Is(err, segment.ErrTagExists) {
		if errors.Is(err, segment.ErrUnusable) && !errors.Is(unread, segment.ErrUnusable) {
			t.Errorf("List() = %v, want what Create says: %v", unread, err)
		}
		return 0, err
	}
	first, _, err := store.Reserve(t.Context(), "orders", 1)
	return uid.ID(first), err
}

var clients = []client{
	{"Ids_WORKER_NODE", worker.ErrMixed, func(t *testing.T, db *gorm.DB, table string) (uid.ID, error) {
		r := worker.NewRegistry(db, worker.RegistryConfig{Prefix: table[:len(table)-len("WORKER_NODE")], Logger: quiet})
		_, unread := r.Nodes(t.Context(), 1) // as the command does
		got, err := number(t, r)
		if errors.Is(err, worker.ErrMixed) && errors.Is(unread, worker.ErrNoTable) {
			t.Errorf("Nodes() = %v, want what the start says: %v", unread, err)
		}
		return got, err
	}},
	{"leaf_alloc", segment.ErrUnusable, func(t *testing.T, db *gorm.DB, table string) (uid.ID, error) {
		return draw(t, segmentsql.NewLeafAlloc(db, segmentsql.Config{Table: table, Logger: quiet}))
	}},
	{"SEQUENCE", segment.ErrUnusable, func(t *testing.T, db *gorm.DB, table string) (uid.ID, error) {
		return draw(t, segmentsql.NewSequence(db, segmentsql.Config{Table: table, Logger: quiet}))
	}},
	{"App_Counters", segment.ErrUnusable, func(t *testing.T, db *gorm.DB, table string) (uid.ID, error) {
		return draw(t, segmentsql.NewLeafAlloc(db, segmentsql.Config{Table: table, Logger: quiet}))
	}},
}

// leases draws from the table of leases by the prefix of both tables of worker numbers.
var leases = client{"Ids_WORKER_LEASE", worker.ErrMixed, func(t *testing.T, db *gorm.DB, table string) (uid.ID, error) {
	store := worker.NewStore(db, worker.StoreConfig{Prefix: table[:len(table)-len("WORKER_LEASE")]})
	gen, err := uid.NewCached(t.Context(), lease.New(store, lease.Config{Logger: quiet}), uid.CachedConfig{Logger: quiet})
	if err != nil {
		return 0, err
	}
	ended, end := context.WithCancel(t.Context())
	end()
	t.Cleanup(func() { _ = gen.Shutdown(ended) }) // until then the number is in use; the table may be gone
	return uid.ID(gen.Worker()), nil
}}

// A table is counted by one name. Beside one in other letters, each start is refused with the way
// out, whether its own table is there or not. Where the database does not tell the two names apart,
// both are one table.
func TestNamesInOtherLetters(t *testing.T) {
	for _, kind := range append(dbtest.Kinds, "folding") {
		t.Run(kind, func(t *testing.T) {
			var server *dbtest.Store
			if kind == "folding" {
				s := servertest.MariaDB(t, t.TempDir()).With("--lower-case-table-names=1").Start(t, dbtest.Answers)
				server = dbtest.At(t, "mysql", s.URL(s.Address))
			} else {
				server = dbtest.New(t, kind)
			}
			for _, c := range clients {
				t.Run(c.table, func(t *testing.T) {
					db := create(t, server).open(t, cell{})
					other := strings.ToLower(c.table)
					if prefix, ok := strings.CutSuffix(c.table, "WORKER_NODE"); ok { // the rest of the name is given
						other = strings.ToLower(prefix) + "WORKER_NODE"
					}
					if other == c.table {
						other = strings.ToUpper(c.table)
					}
					want := func(table string, want uid.ID) {
						t.Helper()
						if got, err := c.draw(t, db, table); got != want || err != nil {
							t.Fatalf("%s: got %d, %v, want %d", table, got, err, want)
						}
					}
					refused := func(table, advice string) {
						t.Helper()
						got, err := c.draw(t, db, table)
						if !errors.Is(err, c.fails) || !strings.Contains(err.Error(), "Table") || !strings.Contains(err.Error(), advice) {
							t.Fatalf("%s: got %d, %v, want that it is refused: %s", table, got, err, advice)
						}
					}
					first, err := c.draw(t, db, other)
					need.Must(t, err)
					if kind == "sqlite" || kind == "folding" {
						want(c.table, first+1)
						return
					}
					quote := db.Statement.Quote
					rename := func(from, to string) string {
						if kind == "mysql" {
							return "RENAME TABLE " + quote(from) + " TO " + quote(to)
						}
						return "ALTER TABLE " + quote(from) + " RENAME TO " + quote(to)
					}
					own := c.table
					if kind == "postgres" { // which folds a name that is not quoted
						own, other = strings.ToLower(c.table), strings.ToUpper(c.table)
						need.Must(t, db.Exec(rename(own, other)).Error)
					}
					refused(c.table, rename(other, own))
					need.Must(t, db.Exec(rename(other, own)).Error)
					want(c.table, first+1)
					need.Must(t, db.Exec("CREATE TABLE "+quote(other)+" (id INT)").Error)
					refused(c.table, rename(other, other+"_old"))
					need.Must(t, db.Exec("DROP TABLE "+quote(other)).Error)
					want(c.table, first+2)
				})
			}
		})
	}
}
