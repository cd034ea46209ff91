//go:build linux

package edges

import (
	"errors"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// MySQL may demand a primary key of each table, and may add one that nobody sees, by which no number is unique.
func TestPrimaryKeys(t *testing.T) {
	owner := newRestricted(t, "mysql").owner
	var version string
	need.Must(t, owner.Raw("SELECT VERSION()").Scan(&version).Error)
	if strings.Contains(version, "MariaDB") { // has neither
		return
	}
	pool, err := owner.DB()
	need.Must(t, err)
	pool.SetMaxOpenConns(1)
	need.Must(t, owner.Exec("SET sql_require_primary_key = ON, sql_generate_invisible_primary_key = ON").Error)
	counters := segmentsql.NewLeafAlloc(owner, segmentsql.Config{Logger: quiet})
	need.Must(t, counters.Create(t.Context(), "orders", 1, 10))
	need.Must(t, segmentsql.NewSequence(owner, segmentsql.Config{Logger: quiet}).Create(t.Context(), "orders", 1, 10))
	leaser := func() *lease.Leaser { return worker.NewLeaser(owner, lease.Config{Logger: quiet}) }
	for _, source := range []uid.WorkerSource{leaser(), worker.NewRegistry(owner, worker.RegistryConfig{Logger: quiet})} {
		need.Must(t, running(t, source).Close())
	}
	for _, table := range []string{"WORKER_NODE MODIFY id BIGINT NOT NULL,", "WORKER_LEASE", "leaf_alloc"} {
		need.Must(t, owner.Exec("ALTER TABLE "+table+" DROP PRIMARY KEY, ADD my_row_id BIGINT NOT NULL AUTO_INCREMENT INVISIBLE PRIMARY KEY").Error)
		if table == "leaf_alloc" {
			need.Must(t, owner.Exec("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('orders', 1, 10)").Error)
			_, err := segment.New(t.Context(), counters, "orders", segment.Config{Logger: quiet})
			need.Error(t, err, segment.ErrUnusable) // beside a second row
			continue
		}
		_, err := uid.NewCached(t.Context(), leaser(), uid.CachedConfig{Logger: quiet})
		need.Error(t, err, worker.ErrKey)
		need.Must(t, owner.Exec("ALTER TABLE "+table+" DROP PRIMARY KEY, DROP my_row_id, ADD PRIMARY KEY ("+map[bool]string{true: "id", false: "worker_id"}[strings.HasPrefix(table, "WORKER_NODE")]+")").Error)
	}
}

// Dolt is refused, where two processes can draw the same ids. A callback has the server say that it is Dolt.
func TestDolt(t *testing.T) {
	for name, c := range grantedCalls() {
		for _, tables := range []bool{false, true} {
			db := newRestricted(t, "mysql").owner
			if tables {
				need.Must(t, segmentsql.NewLeafAlloc(db, segmentsql.Config{Logger: quiet}).Create(t.Context(), "orders", 1, 10))
				need.Must(t, worker.NewStore(db, worker.StoreConfig{}).EnsureSchema(t.Context()))
			}
			need.Must(t, db.Callback().Row().Before("gorm:row").Register("dolt", sayDolt))
			need.Must(t, db.Callback().Query().Before("gorm:query").Register("dolt", sayDolt))
			err := c.call(t.Context(), db)
			if !errors.Is(err, segment.ErrUnusable) && !errors.Is(err, worker.ErrDB) || !strings.Contains(err.Error(), "the server is Dolt") {
				t.Errorf("%s, with tables: %t: %v", name, tables, err)
			}
		}
	}
}

func sayDolt(tx *gorm.DB) {
	if sql := &tx.Statement.SQL; strings.Contains(sql.String(), "@@version_comment") {
		sql.Reset()
		sql.WriteString("SELECT 'Dolt'")
	}
}

// An operator who ends every connection of an app costs it requests, no number and no id.
func TestConnectionsKilled(t *testing.T) {
	for kind, kill := range map[string]string{
		"mysql":    "SELECT CONCAT('KILL ', id) FROM information_schema.processlist WHERE db = ? AND id <> CONNECTION_ID()",
		"postgres": "SELECT CONCAT('SELECT pg_terminate_backend(', pid, ')') FROM pg_stat_activity WHERE application_name = ? AND pid <> pg_backend_pid()",
	} {
		t.Run(kind, func(t *testing.T) {
			user := newRestricted(t, kind)
			counters := segmentsql.NewLeafAlloc(user.owner, segmentsql.Config{Logger: quiet})
			need.Must(t, counters.Create(t.Context(), "orders", 1, 1))
			need.Must(t, counters.CreateGapless(t.Context(), "invoices", 1))
			need.Must(t, worker.NewStore(user.owner, worker.StoreConfig{}).EnsureSchema(t.Context()))
			user.grant(t, append(counters.Grants(), worker.NewStore(user.owner, worker.StoreConfig{}).Grants()...)...)
			admin := dbtest.New(t, kind)
			db := user.open(t)
			store := segmentsql.NewLeafAlloc(db, segmentsql.Config{Logger: quiet})
			ids := running(t, worker.NewLeaser(db, lease.Config{Expiry: 100 * time.Millisecond, Logger: quiet}))
			orders, err := segment.New(t.Context(), store, "orders", segment.Config{MaxStep: 1, Logger: quiet})
			need.Must(t, err)
			seen, last, killed := map[uid.ID]bool{}, int64(0), 0
			for round := 0; round < 200 || killed < 20 && round < 10_000; round++ {
				var statements []string
				need.Must(t, admin.DB.Raw(kill, user.name).Scan(&statements).Error)
				for _, statement := range statements {
					if admin.DB.Exec(statement).Error == nil { // else the connection has ended
						killed++
					}
				}
				id, err := ids.Next()
				need.Must(t, err)
				if order, err := orders.Next(); err == nil {
					if seen[order] {
						t.Fatalf("order %d comes twice", order)
					}
					seen[order] = true
				}
				if seen[id] {
					t.Fatalf("id %d comes twice", id)
				}
				seen[id] = true
				number := int64(0)
				err = db.Transaction(func(tx *gorm.DB) (err error) {
					number, err = store.NextGapless(tx, "invoices")
					return err
				})
				if err == nil && number <= last {
					t.Fatalf("number %d after %d", number, last)
				}
				if err == nil {
					last = number
				}
			}
			if s := ids.Stats(); s.Clock.WorkerChanges != 0 || killed < 20 || last < 20 {
				t.Errorf("%d connections were killed, the last number was %d: %+v", killed, last, s.Clock)
			}
			need.Must(t, errors.Join(ids.Close(), orders.Close()))
		})
	}
}
