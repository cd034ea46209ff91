//go:build linux

package segmentsql_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid/segment/segmentsql"
)

// numbering is a table that draws gapless numbers in the statement that inserts a row, as NextGapless documents it.
const numbering = `CREATE TABLE invoices (id BIGINT PRIMARY KEY, number BIGINT UNIQUE);
CREATE TRIGGER invoices_number BEFORE INSERT ON invoices FOR EACH ROW
BEGIN
  UPDATE leaf_alloc SET max_id = LAST_INSERT_ID(max_id) + 1 WHERE biz_tag = 'invoices' AND step = 0;
  SET NEW.number = LAST_INSERT_ID();
END`

// A server that locks out all writers, for a planned failover or a backup, waits for the statements of others that have
// begun. A client that has locked a row by then does not wait for the server in turn while others wait for the row.
func TestServerLocksWritersOut(t *testing.T) {
	need.CI(t)
	server := servertest.MariaDB(t, t.TempDir()).Start(t, dbtest.Answers)
	s := dbtest.At(t, "mysql", server.URL(server.Address))
	s.Table = "leaf_alloc"
	store := leafAlloc(s)
	must(t, store.Create(t.Context(), "orders", 1, 10))
	must(t, store.CreateGapless(t.Context(), "invoices", 1))
	for _, statement := range strings.SplitN(numbering, ";\n", 2) {
		s.Exec(t, "%s", statement)
	}
	s.Exec(t, "CREATE TABLE numbers (number BIGINT)")
	raised := int64(1000)
	uses := map[string]struct {
		option string // of the DSN
		use    func(store *segmentsql.Store, db *gorm.DB) error
	}{
		"Reserve": {"", func(store *segmentsql.Store, _ *gorm.DB) error {
			_, _, err := store.Reserve(t.Context(), "orders", 10)
			return err
		}},
		"Raise": {"", func(store *segmentsql.Store, _ *gorm.DB) error {
			raised++
			_, err := store.Raise(t.Context(), "orders", raised*1000)
			return err
		}},
		"NextGapless": {"innodb_lock_wait_timeout=1", func(store *segmentsql.Store, db *gorm.DB) error {
			return db.Transaction(func(tx *gorm.DB) error {
				number, err := store.NextGapless(tx, "invoices")
				return errors.Join(err, tx.Exec("INSERT INTO numbers VALUES (?)", number).Error)
			})
		}},
		"trigger": {"", func(_ *segmentsql.Store, db *gorm.DB) error {
			raised++
			return db.Transaction(func(tx *gorm.DB) error {
				return errors.Join(tx.Exec("INSERT INTO invoices (id) VALUES (?)", raised).Error, tx.Exec("DO 1").Error)
			})
		}},
	}
	locks := [][2]string{{"FLUSH TABLES WITH READ LOCK", "UNLOCK TABLES"}, {"SET GLOBAL read_only = 1", "SET GLOBAL read_only = 0"}}
	if !s.MariaDB(t) {
		locks = append(locks, [2]string{"SET GLOBAL super_read_only = 1", "SET GLOBAL read_only = 0"})
	}
	for name, u := range uses {
		for _, lock := range locks {
			t.Run(name+"/"+lock[0], func(t *testing.T) {
				on := *s
				if u.option != "" {
					on.URL = s.With(u.option)
				}
				on.DB = s.Open(t, on.URL)
				db, pool := on.Pooled(t)
				table := segmentsql.Config{Table: s.Table, Logger: quiet}
				stores := [2]*segmentsql.Store{segmentsql.NewLeafAlloc(db, table), segmentsql.NewLeafAlloc(on.DB, table)}
				for _, store := range stores { // which looks at the table
					_, err := store.List(t.Context())
					must(t, err)
				}
				locked, resume, first, second, writers := make(chan struct{}), make(chan struct{}), make(chan error, 1), make(chan error, 1), make(chan error, 1)
				row := false
				pool.Set(dbtest.Faults{Statement: func(_ context.Context, query string) error {
					if row {
						row = false
						close(locked)
						<-resume
					}
					row = strings.HasPrefix(query, "UPDATE") || strings.HasPrefix(query, "INSERT INTO invoices") || strings.HasSuffix(query, "FOR UPDATE")
					return nil
				}})
				go func() { first <- u.use(stores[0], db) }()
				<-locked
				pool.Heal()
				go func() { second <- u.use(stores[1], on.DB) }()
				waits(t, s, "SHOW GLOBAL STATUS WHERE Variable_name = 'Innodb_row_lock_current_waits' AND Value > 0")
				admin, err := s.Open(t, s.URL).DB()
				must(t, err)
				conn, err := admin.Conn(t.Context())
				must(t, err)
				defer conn.Close()
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // innodb_lock_wait_timeout is 50
				defer cancel()
				go func() { _, err := conn.ExecContext(ctx, lock[0]); writers <- err }()
				waits(t, s, "SELECT 1 FROM information_schema.processlist WHERE info LIKE '"+lock[0]+"' AND state LIKE 'Waiting%'")
				close(resume)
				if err := <-writers; err != nil {
					t.Fatalf("%s = %v, want that it waits for no client that waits for it", lock[0], err)
				}
				_, err = conn.ExecContext(t.Context(), lock[1])
				must(t, err)
				<-first // each may be refused: the server was read-only
				<-second
			})
		}
	}
}

// waits waits until a query has a row.
func waits(t *testing.T, s *dbtest.Store, query string) {
	t.Helper()
	servertest.Eventually(t, query, func() bool {
		var rows []map[string]any
		must(t, s.DB.Raw(query).Scan(&rows).Error)
		return len(rows) > 0
	})
}
