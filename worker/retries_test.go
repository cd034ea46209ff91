package worker_test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/sqldb"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
)

// The start of a Registry beside a writer that never ends gives up after two minutes, and one beside a writer
// that ends within two minutes succeeds.
func TestRegistryRetriesForTwoMinutes(t *testing.T) {
	layout := bits.Registry()
	layout.Epoch = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC) // when virtual time begins
	for locked, succeeds := range map[time.Duration]bool{110 * time.Second: true, time.Hour: false} {
		synctest.Test(t, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "worker.db")
			open := func() (*gorm.DB, *sql.DB) {
				db, err := dbtest.Open(path + "?_busy_timeout=0&_pragma=busy_timeout(0)")
				need.Must(t, err)
				pool, err := db.DB()
				need.Must(t, err)
				return db, pool
			}
			db, pool := open()
			defer pool.Close()
			need.Must(t, worker.NewRegistry(db, worker.RegistryConfig{}).EnsureSchema(t.Context()))
			_, other := open()
			defer other.Close()
			writer, err := other.Begin() // which locks the file, as the option _txlock says
			need.Must(t, err)
			began := time.Now()
			end := time.AfterFunc(locked, func() { _ = writer.Rollback() })
			gen, err := uid.NewCached(t.Context(), worker.NewRegistry(db, worker.RegistryConfig{}), uid.CachedConfig{Layout: layout})
			took := time.Since(began)
			if end.Stop() {
				need.Must(t, writer.Rollback())
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
