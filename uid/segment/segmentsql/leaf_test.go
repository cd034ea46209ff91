package segmentsql_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
)

// leafTable is the table as Leaf's users make it.
const leafTable = `CREATE TABLE %s (
	biz_tag varchar(128) NOT NULL DEFAULT '', max_id bigint(20) NOT NULL DEFAULT '1', step int(11) NOT NULL,
	description varchar(256) DEFAULT NULL,
	update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
	PRIMARY KEY (biz_tag)) ENGINE=InnoDB`

var (
	articleTable = strings.Replace(leafTable, "description", "`desc`", 1) // as Leaf's article has it
	myISAM       = strings.Replace(leafTable, "InnoDB", "MyISAM", 1)      // without transactions
)

// Leaf and segmentsql share a table, and no range is given to both.
func TestSharedWithLeaf(t *testing.T) {
	for column, ddl := range map[string]string{"description": leafTable, "desc": articleTable} {
		t.Run(column, func(t *testing.T) {
			s := dbtest.New(t, "mysql")
			s.Exec(t, ddl, s.Table)
			s.Exec(t, "INSERT INTO %s (biz_tag, step) VALUES ('orders', 2000)", s.Table)
			store := leafAlloc(s)
			// leaf loads a range as Leaf does, and wants max_id to be then.
			leaf := func(want int64) {
				t.Helper()
				var maxID int64
				err := s.DB.Transaction(func(tx *gorm.DB) error {
					update := tx.Exec("UPDATE " + s.Table + " SET max_id = max_id + step WHERE biz_tag = 'orders'")
					return errors.Join(update.Error, tx.Raw("SELECT max_id FROM "+s.Table+" WHERE biz_tag = 'orders'").Scan(&maxID).Error)
				})
				if err != nil || maxID != want {
					t.Fatalf("max_id is %d, %v, want %d", maxID, err, want)
				}
			}
			reserves(t, store, "orders", 0, 1)
			leaf(4001) // Leaf has 2001 to 4000
			reserves(t, store, "orders", 0, 4001)
			reserves(t, store, "orders", 70, 6001)
			leaf(8071)
			s.Exec(t, "UPDATE %s SET step = 5 WHERE biz_tag = 'orders'", s.Table)
			reserves(t, store, "orders", 0, 8071)
			returns(t, store, 4500, 6001, false) // below a range of Leaf's
			must(t, store.Create(t.Context(), "users", 1, 30))
			counters, err := store.List(t.Context())
			if err != nil || len(counters) != 2 || counters[0].Next != 8076 || counters[1].Step != 30 {
				t.Errorf("List() = %+v, %v", counters, err)
			}
		})
	}
}

// A row that says nothing useful is an error that names it.
func TestWrongRow(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, s *dbtest.Store) {
		s.Exec(t, "CREATE TABLE %s (biz_tag VARCHAR(128), max_id BIGINT, step INT, update_time TIMESTAMP)", s.Table)
		s.Exec(t, "INSERT INTO %s (biz_tag) VALUES ('orders')", s.Table)
		store := leafAlloc(s)
		for set, want := range map[string]string{
			"max_id = 1, step = 0":         "gapless",
			"max_id = 1, step = -5":        `the step of "orders" in`,
			"max_id = -100, step = 10":     "max_id of \"orders\" in",
			"max_id = -100, step = 0":      "gapless",
			"max_id = NULL, step = 10":     "is NULL",
			"max_id = 1, step = NULL":      "step",
			"max_id = 1000, step = -1000":  "step",
			"max_id = -1000, step = 99999": "is -1000, want 1 or more",
		} {
			s.Exec(t, "UPDATE %s SET %s", s.Table, set)
			gen, err := segment.New(t.Context(), store, "orders", segment.Config{})
			if !errors.Is(err, segment.ErrUnusable) || errors.Is(err, uid.ErrUnavailable) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: New() = %v, %v, want ErrUnusable with %q", set, gen, err, want)
			}
		}
		s.Exec(t, "UPDATE %s SET max_id = -100, step = 10", s.Table)
		_, _, err := store.Reserve(t.Context(), "orders", 5)
		wantErr(t, err, segment.ErrUnusable)
		raises(t, store, 1, 1)
		// From 0, the first id is 1.
		s.Exec(t, "UPDATE %s SET max_id = 0, step = 10", s.Table)
		if id, err := open(t, store, "orders", segment.Config{}).Next(); id != 1 || err != nil {
			t.Errorf("Next() = %d, %v of a counter at 0, want 1", id, err)
		}
		// A table without a key may have a tag twice. Neither row is used.
		s.Exec(t, "INSERT INTO %s (biz_tag, max_id, step) VALUES ('orders', 500, 10)", s.Table)
		_, _, err = store.Reserve(t.Context(), "orders", 5)
		wantErr(t, err, nil, "2 rows")
	})
}

// Every write says when it was, as in MySQL the table itself does, and sessions in other time zones read the same.
func TestUpdateTime(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, s *dbtest.Store) {
		store := created(t, s)
		zones := map[string]string{"mysql": "time_zone=%27%2B09%3A00%27", "postgres": "timezone=Asia/Tokyo"}
		elsewhere := store
		if zone := zones[s.Kind]; zone != "" {
			elsewhere = segmentsql.NewLeafAlloc(s.Open(t, s.With(zone)), segmentsql.Config{Table: s.Table})
		}
		writes := map[string]func() error{
			"Reserve": func() error { _, _, err := store.Reserve(t.Context(), "orders", 5); return err },
		}
		if s.Kind == "mysql" {
			writes["Leaf's"] = func() error {
				return s.DB.Exec("UPDATE " + s.Table + " SET max_id = max_id + step WHERE biz_tag = 'orders'").Error
			}
		}
		for name, write := range writes {
			s.Exec(t, "UPDATE %s SET update_time = '2020-01-02 03:04:05'", s.Table)
			must(t, write())
			for _, reader := range []*segmentsql.Store{store, elsewhere} {
				counters, err := reader.List(t.Context())
				if err != nil || time.Since(counters[0].Updated).Abs() > time.Hour {
					t.Errorf("%s: List() = %+v, %v, want that it was updated now", name, counters, err)
				}
			}
		}
	})
}

// The table that Create makes rolls back, whatever engine the server prefers.
func TestEngine(t *testing.T) {
	s := dbtest.New(t, "mysql")
	store := segmentsql.NewLeafAlloc(s.Open(t, s.With("default_storage_engine=MyISAM")), segmentsql.Config{Table: s.Table})
	must(t, store.CreateGapless(t.Context(), "invoices", 1))
	_, err := invoice(s.DB, store)
	must(t, err)
}

// A handle that would lose the write, or whose rollback would, is refused.
func TestRefusedHandles(t *testing.T) {
	s := dbtest.New(t, "sqlite")
	created(t, s)
	failed := s.DB.Session(&gorm.Session{})
	_ = failed.AddError(errLost)
	begun, prepared := s.DB.Begin(), s.DB.Session(&gorm.Session{PrepareStmt: true}).Begin()
	defer begun.Rollback()
	defer prepared.Rollback()
	for name, db := range map[string]*gorm.DB{
		"nil": nil, "empty": new(gorm.DB), "dry run": s.DB.Session(&gorm.Session{DryRun: true}), "error": failed,
		"transaction": begun, "prepared transaction": prepared,
		"other kind": s.Reopen(t, func(d gorm.Dialector) gorm.Dialector { return dbtest.Dialector{Dialector: d, As: "oracle"} }, gorm.Config{}),
	} {
		store := segmentsql.NewLeafAlloc(db, segmentsql.Config{Table: s.Table})
		_, _, reserved := store.Reserve(t.Context(), "orders", 1)
		_, started := segment.New(t.Context(), store, "orders", segment.Config{Create: true})
		for _, err := range []error{reserved, started} {
			if !errors.Is(err, segment.ErrUnusable) {
				t.Errorf("%s: %v, want ErrUnusable", name, err)
			}
		}
	}
}

// A statement that a deadlock rolled back is sent again, and leaves no gap.
func TestRolledBackIsRetried(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, s *dbtest.Store) {
		db, pool := s.Pooled(t)
		store := segmentsql.NewSequence(db, segmentsql.Config{Table: s.Table})
		must(t, store.Create(t.Context(), "orders", 1, 10))
		conflicts := map[string]error{
			"sqlite":   errors.New("database is locked"),
			"mysql":    errors.New("Error 1213 (40001): Deadlock found"),
			"postgres": sqlState("40001"),
		}
		left := 3
		pool.Set(dbtest.Faults{Statement: func(_ context.Context, query string) error {
			if left > 0 && query != "BEGIN" {
				left--
				return conflicts[s.Kind]
			}
			return nil
		}})
		if first, n, err := store.Reserve(t.Context(), "orders", 10); first != 1 || n != 10 || err != nil || left != 0 {
			t.Errorf("Reserve() = %d, %d, %v, with %d conflicts to come", first, n, err, left)
		}
		left = 2
		if done, err := store.Return(t.Context(), "orders", 5, 11); done || err == nil || left != 1 {
			t.Errorf("Return() = %v, %v, with %d conflicts to come: it is sent once only", done, err, left)
		}
		left = 3
		if raises(t, store, 100, 100); left != 0 {
			t.Errorf("%d conflicts to come after Raise", left)
		}
		ctx, cancel := context.WithCancel(t.Context())
		pool.Set(dbtest.Faults{Statement: func(context.Context, string) error { cancel(); return conflicts[s.Kind] }})
		_, _, err := store.Reserve(ctx, "orders", 10)
		wantErr(t, err, context.Canceled)
	})
}

type sqlState string

func (s sqlState) Error() string    { return string(s) }
func (s sqlState) SQLState() string { return string(s) }
