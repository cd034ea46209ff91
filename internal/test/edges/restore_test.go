//go:build linux

package edges

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// owned returns a database, or a schema, of the test's own.
func owned(t *testing.T, kind string) *gorm.DB {
	if kind == "sqlite" {
		return dbtest.New(t, kind).DB
	}
	return newRestricted(t, kind).owner
}

// name is the name of a table in statements.
func name(kind, table string) string {
	if kind == "postgres" {
		return table
	}
	return strings.ToUpper(table)
}

// drill is one database in which the counter of worker numbers goes back.
type drill struct {
	*testing.T
	kind string
	db   *gorm.DB
	used map[int64]bool // the numbers of all generators
	most int64
}

// newDrill starts some Leasers on a database.
func newDrill(t *testing.T, kind string, db *gorm.DB, leasers int) *drill {
	t.Helper()
	d := &drill{T: t, kind: kind, db: db, used: map[int64]bool{}}
	for range leasers {
		d.take(d.leaser())
	}
	return d
}

// leaser returns one that does not look at its row again: who notices a loss takes another number, and moves the counter.
func (d *drill) leaser() *lease.Leaser {
	return worker.NewLeaser(d.db, lease.Config{Expiry: time.Hour, Window: time.Hour, Logger: quiet})
}

// take starts a generator, which runs to the end of the test, and expects a number that nobody has had.
func (d *drill) take(source uid.WorkerSource) {
	d.Helper()
	d.note(running(d.T, source).Worker())
}

func (d *drill) note(number int64) {
	d.Helper()
	if d.used[number] {
		d.Errorf("number %d is given twice", number)
	}
	d.used[number], d.most = true, max(d.most, number)
}

// all starts one generator of each kind.
func (d *drill) all() {
	d.Helper()
	d.take(worker.NewRegistry(d.db, worker.RegistryConfig{Logger: quiet}))
	d.take(d.leaser())
	b, err := uid.NewBackfill(d.Context(), d.leaser(), uid.BackfillConfig{})
	need.Must(d, err)
	d.Cleanup(func() { b.Close() })
	d.note(b.Worker())
}

// refused expects a start to be refused until the counter is raised, as docs/production.md says, and then all to go on.
func (d *drill) refused() {
	d.Helper()
	_, err := uid.NewCached(d.Context(), worker.NewLeaser(d.db, lease.Config{Logger: quiet}), uid.CachedConfig{Logger: quiet})
	need.Error(d, err, worker.ErrKey, "uidring workers raise NUMBER")
	need.Must(d, worker.NewStore(d.db, worker.StoreConfig{}).Raise(d.Context(), d.most))
	d.all()
	d.all()
}

func (d *drill) exec(statements ...string) {
	d.Helper()
	for _, statement := range statements {
		need.Must(d, d.db.Exec(statement).Error)
	}
}

// A backup of yesterday is restored beside generators that run.
func TestRestoredBackup(t *testing.T) {
	for _, kind := range dbtest.Kinds {
		t.Run(kind, func(t *testing.T) {
			db := owned(t, kind)
			d := newDrill(t, kind, db, 4)
			for _, table := range []string{"worker_node", "worker_lease"} {
				d.exec("CREATE TABLE backup_" + table + " AS SELECT * FROM " + name(kind, table))
			}
			d.all()
			for _, table := range []string{"worker_node", "worker_lease"} {
				d.exec("DELETE FROM "+name(kind, table), "INSERT INTO "+name(kind, table)+" SELECT * FROM backup_"+table)
			}
			d.exec(map[string]string{
				"mysql":    "ALTER TABLE WORKER_NODE AUTO_INCREMENT = 1", // InnoDB makes it the greatest key and one
				"postgres": "ALTER TABLE worker_node ALTER COLUMN id RESTART WITH 1",
				"sqlite":   "UPDATE sqlite_sequence SET seq = 0 WHERE name = 'WORKER_NODE'", // SQLite too
			}[kind])
			if kind == "postgres" { // whose counter is not of the rows
				d.refused()
				return
			}
			need.Must(t, worker.NewStore(db, worker.StoreConfig{}).Raise(t.Context(), d.most))
			d.all()
		})
	}
}

// WORKER_NODE is truncated beside leases: each start is refused until the record is there again, and the counter above.
func TestTruncated(t *testing.T) {
	for _, kind := range dbtest.Kinds {
		t.Run(kind, func(t *testing.T) {
			d := newDrill(t, kind, owned(t, kind), 5)
			var layout string
			need.Must(t, d.db.Raw("SELECT HOST_NAME FROM "+name(kind, "worker_node")+" WHERE ID = -1").Scan(&layout).Error)
			layout, _, _ = strings.Cut(layout, ",since=")
			d.exec(map[string][]string{
				"mysql":    {"TRUNCATE TABLE WORKER_NODE"},
				"postgres": {"TRUNCATE TABLE worker_node RESTART IDENTITY"},
				"sqlite":   {"DELETE FROM WORKER_NODE", "DELETE FROM sqlite_sequence WHERE name = 'WORKER_NODE'"},
			}[kind]...)
			_, err := uid.NewCached(t.Context(), worker.NewRegistry(d.db, worker.RegistryConfig{Logger: quiet}), uid.CachedConfig{Logger: quiet})
			if !errors.Is(err, worker.ErrMixed) {
				t.Fatalf("%v, want that the record is gone", err)
			}
			_, statement, _ := strings.Cut(err.Error(), "start: ")
			statement, _, _ = strings.Cut(statement, ", where TYPE")
			d.exec(strings.Replace(statement, "LAYOUT", layout, 1))
			d.refused()
		})
	}
}

// A logical replica of PostgreSQL has the rows, and not the counter.
func TestLogicalReplica(t *testing.T) {
	need.CI(t)
	open := func() (*gorm.DB, string) {
		s := servertest.Postgres(t, t.TempDir()).With("-c", "wal_level=logical").Start(t, dbtest.Answers)
		store := dbtest.At(t, "postgres", s.URL(s.Address))
		need.Must(t, worker.NewStore(store.DB, worker.StoreConfig{}).EnsureSchema(t.Context()))
		return store.DB, s.Address
	}
	primary, address := open()
	replica, _ := open()
	d := newDrill(t, "postgres", primary, 5)
	d.exec("CREATE PUBLICATION ids FOR TABLE worker_node, worker_lease")
	host, port, _ := strings.Cut(address, ":")
	need.Must(t, replica.Exec(fmt.Sprintf("CREATE SUBSCRIPTION ids CONNECTION 'host=%s port=%s user=postgres dbname=postgres' PUBLICATION ids", host, port)).Error)
	servertest.Eventually(t, "the replica has the rows, and the record", func() bool {
		var leases, nodes int64
		need.Must(t, replica.Raw("SELECT (SELECT COUNT(*) FROM worker_lease), (SELECT COUNT(*) FROM worker_node)").Row().Scan(&leases, &nodes))
		return leases == 5 && nodes == 6
	})
	need.Must(t, replica.Exec("DROP SUBSCRIPTION ids").Error)
	d.db = replica // promoted; the primary is gone
	d.refused()
}

// A database whose numbers were drawn becomes one whose numbers are divided, and back, as docs/choosing.md says.
func TestChangeOfKind(t *testing.T) {
	for _, kind := range dbtest.Kinds {
		t.Run(kind, func(t *testing.T) {
			db, ids := owned(t, kind), map[uid.ID]bool{}
			for round, config := range []lease.Config{{}, {Numbers: &lease.Range{From: 1, To: 9}}, {Assigner: lease.NewStatic(1)}, {}} {
				config.Logger, config.Window, config.Expiry = quiet, 200*time.Millisecond, 200*time.Millisecond
				gen, err := uid.NewDefault(t.Context(), worker.NewLeaser(db, config), uid.DefaultConfig{Logger: quiet})
				if round == 2 { // the same kind
					need.Must(t, err)
				} else if round > 0 {
					if _, refused := errors.AsType[*worker.KindError](err); !refused {
						t.Fatalf("round %d: %v, want a KindError", round, err)
					}
					var until int64
					need.Must(t, db.Raw("SELECT MAX(reserved_until) FROM "+name(kind, "worker_lease")+" WHERE worker_id >= 0").Scan(&until).Error)
					servertest.Eventually(t, "the clock has passed all reservations", func() bool { return time.Now().UnixMilli() > until })
					for _, table := range []string{"worker_node", "worker_lease"} {
						need.Must(t, db.Exec(fmt.Sprintf("ALTER TABLE %s RENAME TO %[1]s_%[2]d", name(kind, table), round)).Error)
					}
					gen, err = uid.NewDefault(t.Context(), worker.NewLeaser(db, config), uid.DefaultConfig{Logger: quiet})
				}
				need.Must(t, err)
				for range 1000 {
					id, err := gen.Next()
					need.Must(t, err)
					if ids[id] {
						t.Fatalf("round %d: id %d repeats", round, id)
					}
					ids[id] = true
				}
				need.Must(t, gen.Close())
			}
		})
	}
}
