//go:build linux

package edges

import (
	"fmt"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// upkeep is what docs/production.md allows a DBA beneath processes that run: each statement is for each table.
var upkeep = map[string][]string{
	"mysql": {"OPTIMIZE TABLE %s", "ANALYZE TABLE %s", "ALTER TABLE %s ADD COLUMN note VARCHAR(20)", "CREATE INDEX by_note ON %s (note)", "CREATE TABLE archive_%s AS SELECT * FROM %[1]s"},
	"postgres": {"VACUUM FULL %s", "ANALYZE %s", "REINDEX TABLE CONCURRENTLY %s", "ALTER TABLE %s ADD COLUMN note VARCHAR(20)", "CREATE INDEX ON %s (note)",
		"CREATE TABLE archive_%s AS SELECT * FROM %[1]s"},
	"sqlite": {"VACUUM", "ANALYZE %s", "REINDEX %s", "ALTER TABLE %s ADD COLUMN note VARCHAR(20)", "CREATE INDEX by_note_%s ON %[1]s (note)", "CREATE TABLE archive_%s AS SELECT * FROM %[1]s"},
}

// What may be deleted, archived and altered while processes run disturbs none of them, and gives no number twice.
func TestPruned(t *testing.T) {
	need.CI(t)
	for _, kind := range dbtest.Kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			d := newDrill(t, kind, owned(t, kind), 0)
			var orders []interface{ Next() (uid.ID, error) }
			for _, counters := range []*segmentsql.Store{segmentsql.NewLeafAlloc(d.db, segmentsql.Config{Logger: quiet}), segmentsql.NewSequence(d.db, segmentsql.Config{Logger: quiet})} {
				for _, tag := range []string{"orders", "retired"} {
					need.Must(t, counters.Create(t.Context(), tag, 1, 10))
				}
				gen, err := segment.New(t.Context(), counters, "orders", segment.Config{Step: 10, MaxStep: 10, Logger: quiet})
				need.Must(t, err)
				defer gen.Close()
				orders = append(orders, gen)
			}
			holder := running(t, worker.NewLeaser(d.db, lease.Config{Expiry: 400 * time.Millisecond, Window: time.Hour, Logger: quiet}))
			d.note(holder.Worker())
			d.all()
			gone, err := uid.NewDefault(t.Context(), worker.NewLeaser(d.db, lease.Config{Logger: quiet}), uid.DefaultConfig{Logger: quiet})
			need.Must(t, err)
			need.Must(t, gone.Close())

			renewed := func() {
				t.Helper()
				before := holder.Stats().Clock.ReservedUntil
				servertest.Eventually(t, "the holder renews", func() bool {
					s := holder.Stats().Clock
					return s.LeaseError == nil && s.ReservedUntil.After(before)
				})
				for range 25 { // more than a range
					for _, gen := range orders {
						_, err := gen.Next()
						need.Must(t, err)
					}
				}
			}
			d.exec("DELETE FROM "+name(kind, "worker_node")+" WHERE ID > 0", "DELETE FROM leaf_alloc WHERE biz_tag = 'retired'", "DELETE FROM SEQUENCE WHERE table_name = 'retired'")
			servertest.Eventually(t, "a lease can be deleted", func() bool {
				done := d.db.Exec("DELETE FROM "+name(kind, "worker_lease")+" WHERE worker_id >= 0 AND reserved_until < ?", time.Now().UnixMilli())
				need.Must(t, done.Error)
				return done.RowsAffected == 1
			})
			var rows int
			need.Must(t, d.db.Raw("SELECT COUNT(*) FROM "+name(kind, "worker_node")).Scan(&rows).Error)
			if rows != 1 {
				t.Errorf("%d rows of numbers are left, want the record", rows)
			}
			renewed()
			d.all()
			for _, statement := range upkeep[kind] {
				for _, table := range []string{name(kind, "worker_node"), name(kind, "worker_lease"), "leaf_alloc", "SEQUENCE"} {
					if statement == "VACUUM" {
						d.exec(statement)
					} else {
						d.exec(fmt.Sprintf(statement, table))
					}
				}
				renewed()
			}
			d.all()
			if n := holder.Stats().Clock.WorkerChanges; n != 0 {
				t.Errorf("the holder took another number %d times", n)
			}
			d.exec("DELETE FROM " + name(kind, "worker_lease") + " WHERE worker_id >= 0") // which the page forbids
			servertest.Eventually(t, "the holder takes another number", func() bool { return holder.Stats().Clock.WorkerChanges == 1 })
			d.note(holder.Worker())
		})
	}
}

// A copy of a pruned table, which takes its place, does not have the counter: starts are refused until it is raised.
func TestCopied(t *testing.T) {
	for kind, statements := range map[string][]string{
		"mysql":    {"CREATE TABLE copied LIKE WORKER_NODE", "INSERT INTO copied SELECT * FROM WORKER_NODE", "RENAME TABLE WORKER_NODE TO old, copied TO WORKER_NODE"},
		"postgres": {"CREATE TABLE copied (LIKE worker_node INCLUDING ALL)", "INSERT INTO copied SELECT * FROM worker_node", "ALTER TABLE worker_node RENAME TO old", "ALTER TABLE copied RENAME TO worker_node"},
	} {
		t.Run(kind, func(t *testing.T) {
			d := newDrill(t, kind, owned(t, kind), 5)
			d.exec("DELETE FROM " + name(kind, "worker_node") + " WHERE ID > 0")
			d.exec(statements...)
			d.refused()
		})
	}
}
