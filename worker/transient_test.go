package worker_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/sqldb"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
)

// transients returns the driver's errors of requests that succeed if they are made again.
func (s *store) transients(t *testing.T) (errs []error) {
	t.Helper()
	switch s.Kind {
	case "mysql":
		for _, number := range []uint16{1213, 1205, 1020, 1040, 1203, 1226, 1317, 3024, 1969} {
			errs = append(errs, &mysqldriver.MySQLError{Number: number, SQLState: [5]byte([]byte("HY000")), Message: "made to fail"})
		}
	case "postgres":
		for _, code := range []string{"40001", "40P01", "55P03", "57014", "53300", "57P03"} {
			errs = append(errs, &pgconn.PgError{Code: code})
		}
	case "sqlite":
		tx := s.DB.Begin()
		defer tx.Rollback()
		need.Must(t, tx.Exec("CREATE TABLE busy (id INT)").Error)
		errs = []error{s.Waiting(t, time.Millisecond).DB.Exec("CREATE TABLE busy (id INT)").Error}
	}
	return errs
}

// failAt makes a statement or a commit fail, the at-th from now on. It returns how many there were.
func failAt(pool *dbtest.Pool, at int, commit bool, err error) (sent *int) {
	sent = new(int)
	fails := func() bool { *sent++; return *sent == at }
	faults := dbtest.Faults{Statement: func(context.Context, string) error {
		if fails() {
			return err
		}
		return nil
	}}
	if commit {
		faults = dbtest.Faults{Commit: func(tx *dbtest.Tx) error {
			if fails() {
				return errors.Join(tx.Tx.Rollback(), err)
			}
			return tx.Tx.Commit()
		}}
	}
	pool.Set(faults)
	return sent
}

// A transient error at any statement or commit ends no start and no release. It lets no start pass that has to be
// refused, and hides no warning.
func TestTransientErrorAtStart(t *testing.T) {
	need.Time(t)
	for name, start := range map[string]struct {
		before, kind string // the start before, and the one that meets an error
		layout       bits.Layout
		want         error
	}{
		"Registry":                   {kind: aRegistry},
		"Leaser":                     {kind: aLeaser},
		"range":                      {kind: aRange},
		"Assigner":                   {kind: anOrdinal},
		"Registry beside a Leaser":   {before: aLeaser, kind: aRegistry},
		"Leaser beside a Registry":   {before: aRegistry, kind: aLeaser},
		"Registry, other layout":     {before: aLeaser, kind: aRegistry, layout: bits.LongLived(), want: lease.ErrLayout},
		"Leaser, other layout":       {before: aRegistry, kind: aLeaser, layout: bits.LongLived(), want: lease.ErrLayout},
		"Leaser where others choose": {before: anOrdinal, kind: aLeaser, want: worker.ErrMixed},
		"range where others draw":    {before: aRegistry, kind: aRange, want: worker.ErrMixed},
		"table without a key":        {before: "keyless", kind: aLeaser, want: worker.ErrKey},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, leasers, func(t *testing.T, s *store) {
				errs, unflushed := s.transients(t), *s.Store
				if s.Kind == "postgres" {
					unflushed.DB = s.Open(t, s.With("synchronous_commit=off"))
				}
				db, pool := unflushed.Pooled(t)
				for _, commit := range []bool{false, true} {
					for at, sent := 1, new(1); *sent >= at; at++ {
						s := s.another(t)
						given := -1
						switch start.before {
						case "":
						case "keyless":
							s.as(registry).createLike(t, "BIGINT NOT NULL")
						default:
							gen, err := uid.NewCached(t.Context(), s.kind(start.before, s.DB), uid.CachedConfig{Logger: silent})
							need.Must(t, err)
							t.Cleanup(func() { gen.Close() })
							given = int(gen.Worker())
						}
						out, failed := new(logged.Text), errs[at%len(errs)]
						sent = failAt(pool, at, commit, failed)
						gen, err := uid.NewCached(t.Context(), s.kind(start.kind, db, logTo(out.Logger())), uid.CachedConfig{Layout: start.layout, Logger: silent})
						if !errors.Is(err, start.want) {
							t.Errorf("%v at %d: %v, want %v", failed, at, err, start.want)
						}
						if err != nil {
							continue
						}
						if commit && start.kind == aRange && gen.Worker() != 1 {
							t.Errorf("%v at commit %d: number %d, want 1: what was rolled back uses up no number of a range", failed, at, gen.Worker())
						}
						if int(gen.Worker()) == given {
							t.Errorf("%v at %d: number %d is given twice", failed, at, given)
						}
						if s.Kind == "postgres" && out.Count("setting=synchronous_commit") == 0 {
							t.Errorf("%v at %d: no warning that commits are not flushed", failed, at)
						}
						if err := gen.Close(); err != nil {
							t.Errorf("%v at %d: Close: %v", failed, at, err)
						}
					}
				}
			})
		})
	}
}

// A transient error at any statement or commit of a renewal takes no number from its holder, nor does a table that is gone for
// a while.
func TestTransientErrorAtRenewal(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		errs := s.transients(t)
		db, pool := s.Pooled(t)
		h := holdertest.Take(t, s.leaser(db, quickly, quiet), max22)
		for i := range 4 * len(errs) {
			failAt(pool, 1+i/2%2, i%2 == 1, errs[i/4])
			h.Renew(t)
		}
		s.Exec(t, "ALTER TABLE %s RENAME TO %[1]s_old", s.Table)
		h.Await(t, "the table is missed", func(g lease.Grant) bool { return errors.Is(g.Err, worker.ErrNoTable) })
		s.Exec(t, "ALTER TABLE %s_old RENAME TO %[1]s", s.Table)
		h.Renew(t)
		h.Kept(t)
	})
}

// The start of a Registry beside a writer that never ends gives up after two minutes, and one beside a writer
// that ends within two minutes succeeds.
func TestRegistryRetriesForTwoMinutes(t *testing.T) {
	layout := bits.Registry()
	layout.Epoch = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC) // when virtual time begins
	for locked, succeeds := range map[time.Duration]bool{110 * time.Second: true, time.Hour: false} {
		synctest.Test(t, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "worker.db") + "?_busy_timeout=0&_pragma=busy_timeout(0)"
			db, err := dbtest.Open(path)
			need.Must(t, err)
			defer dbtest.Close(db)
			need.Must(t, worker.NewRegistry(db, worker.RegistryConfig{}).EnsureSchema(t.Context()))
			other, err := dbtest.Open(path)
			need.Must(t, err)
			defer dbtest.Close(other)
			writer := other.Begin() // which locks the file, as the option _txlock says
			need.Must(t, writer.Error)
			began := time.Now()
			end := time.AfterFunc(locked, func() { writer.Rollback() })
			gen, err := uid.NewCached(t.Context(), worker.NewRegistry(db, worker.RegistryConfig{}), uid.CachedConfig{Layout: layout})
			took := time.Since(began)
			if end.Stop() {
				writer.Rollback()
			}
			if err == nil {
				defer gen.Close()
			}
			if succeeds != (err == nil) || !succeeds && !sqldb.KindOf("sqlite").Transient(err) || took < min(locked, 105*time.Second) || took > 130*time.Second {
				t.Errorf("beside a writer of %v: %v after %v; want success %t", locked, err, took, succeeds)
			}
		})
	}
}
