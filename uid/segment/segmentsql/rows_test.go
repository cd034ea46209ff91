package segmentsql_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
)

// files returns n databases.
func files(t *testing.T, n int) (dbs []*gorm.DB) {
	for range n {
		db, err := dbtest.Open(filepath.Join(t.TempDir(), "rows.db"))
		must(t, err)
		t.Cleanup(func() { _ = dbtest.Close(db) })
		dbs = append(dbs, db)
	}
	return dbs
}

func execute(t *testing.T, db *gorm.DB, statement string, args ...any) {
	t.Helper()
	if err := db.Exec(statement, args...).Error; err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// databases returns n databases of a kind: on a server, databases or schemas of their
// own.
func databases(t *testing.T, kind string, n int) (dbs []*gorm.DB) {
	if kind == "sqlite" {
		return files(t, n)
	}
	s := dbtest.New(t, kind)
	for i := range n {
		name := fmt.Sprintf("%s_%d", strings.ToLower(s.Table), i)
		create, drop, url := "CREATE SCHEMA %s", "DROP SCHEMA %s CASCADE", s.With("search_path="+name)
		if kind == "mysql" {
			dsn, err := mysqldriver.ParseDSN(s.URL)
			must(t, err)
			dsn.DBName = name
			create, drop, url = "CREATE DATABASE %s", "DROP DATABASE %s", dsn.FormatDSN()
		}
		s.Exec(t, create, name)
		t.Cleanup(func() { s.Exec(t, drop, name) })
		dbs = append(dbs, s.Open(t, url))
	}
	return dbs
}

// stripe returns a generator on n rows, until the test ends.
func stripe(t *testing.T, n int, dbs []*gorm.DB, config segment.StripeConfig) *segment.Striped {
	t.Helper()
	gen, err := segment.Stripe(t.Context(), segmentsql.Rows(n, dbs...), "orders", config)
	must(t, err)
	t.Cleanup(func() { _ = gen.Close() })
	return gen
}

// Rows over databases, one of which goes: its rows are moved while a process runs,
// and no id repeats.
func TestRowsMove(t *testing.T) {
	for _, kind := range dbtest.Kinds {
		t.Run(kind, func(t *testing.T) { move(t, databases(t, kind, 3)) })
	}
}

func move(t *testing.T, dbs []*gorm.DB) {
	config := segment.StripeConfig{Block: 10, Config: segment.Config{Create: true, Step: 5, MaxStep: 5}}
	gen := stripe(t, 5, dbs, config)
	seen, last := map[uid.ID]bool{}, map[uid.ID]uid.ID{}
	draw := func(n int) (rows map[uid.ID]bool) {
		t.Helper()
		rows = map[uid.ID]bool{}
		for range n {
			id, err := gen.Next()
			row := id / 10 % 5
			if err != nil || seen[id] || id <= last[row] {
				t.Fatalf("Next() = %d, %v after %d; issued before: %v", id, err, last[row], seen[id])
			}
			seen[id], last[row], rows[row] = true, id, true
		}
		return rows
	}
	if rows := draw(500); len(rows) != 5 {
		t.Errorf("rows used: %v, want all 5", rows)
	}
	var tags []string
	if err := dbs[0].Raw("SELECT biz_tag FROM leaf_alloc WHERE biz_tag <> 'orders' ORDER BY biz_tag").Scan(&tags).Error; err != nil || len(tags) != 2 {
		t.Fatalf("the first database has %q, %v, want 2 rows of 5", tags, err)
	}
	for _, tag := range tags {
		var next, deleted int64
		for first := true; deleted == 0; first = false {
			must(t, dbs[0].Raw("SELECT max_id FROM leaf_alloc WHERE biz_tag = ?", tag).Scan(&next).Error)
			if first {
				draw(200) // which moves the counter on
			}
			result := dbs[0].Exec("DELETE FROM leaf_alloc WHERE biz_tag = ? AND max_id = ?", tag, next)
			if result.Error != nil {
				t.Fatal(result.Error)
			}
			deleted = result.RowsAffected
		}
		draw(20)
		execute(t, dbs[1], "INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES (?, ?, 5)", tag, next)
	}
	draw(1000)
	for _, s := range gen.Stores() {
		if errors.Is(s.LastError, segment.ErrRewound) {
			t.Errorf("a row went back when it moved: %v", s.LastError)
		}
	}
	must(t, gen.Close())
	// Whoever starts afterwards finds the rows, and goes on upwards.
	config.Create = false
	gen = stripe(t, 5, []*gorm.DB{dbs[2], dbs[1]}, config)
	if rows := draw(500); len(rows) != 5 {
		t.Errorf("rows used: %v, want all 5", rows)
	}
}

// What does not fit together is refused at the start.
func TestRowsRefused(t *testing.T) {
	dbs := files(t, 2)
	config := segment.StripeConfig{Config: segment.Config{Create: true}}
	must(t, stripe(t, 4, dbs, config).Close())
	refused := func(want error, text string, config segment.StripeConfig, stores []segment.Store) {
		t.Helper()
		gen, err := segment.Stripe(t.Context(), stores, "orders", config)
		if err == nil {
			_ = gen.Close()
		}
		if !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
			t.Errorf("Stripe() = %v, want %v with %q", err, want, text)
		}
	}
	refused(segment.ErrStripe, "/4 x1000", config, segmentsql.Rows(3, dbs...))
	refused(segment.ErrStripe, "/4 x1000", segment.StripeConfig{Block: 10, Config: config.Config}, segmentsql.Rows(4, dbs...))
	refused(segment.ErrUnknownTag, "/4 x1000", segment.StripeConfig{}, segmentsql.Rows(4, dbs[0]))
	refused(segment.ErrConfig, "one or more, and none nil", config, segmentsql.Rows(0, dbs...))
	refused(segmentsql.ErrDB, "one database", config, segmentsql.Rows(4))
	execute(t, dbs[1], "INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('orders 1/4 x1000', 1, 5)")
	refused(segmentsql.ErrOverlap, "orders 1/4 x1000", segment.StripeConfig{}, segmentsql.Rows(4, dbs...))
	refused(segmentsql.ErrOverlap, "orders 1/4 x1000", config, segmentsql.Rows(4, dbs...))
}

// A row lists the counters of stripes of another number of stores, since their ids can be equal.
func TestRowsListOtherStripes(t *testing.T) {
	dbs := files(t, 1)
	for _, tag := range []string{"orders 1/2 x1000", "orders 2/2 x1000", "orders 2/3 x1000"} {
		must(t, segmentsql.LeafAlloc(dbs[0], segmentsql.Config{}).Create(t.Context(), tag, 1, 10))
	}
	counters, err := segmentsql.Rows(2, dbs...)[0].(segment.Lister).List(t.Context())
	must(t, err)
	if len(counters) != 2 || counters[0].Tag != "orders 1/2 x1000" || counters[1].Tag != "orders 2/3 x1000" {
		t.Errorf("List() = %v; want all but that of the other row", counters)
	}
}

// No row is made while a database is unavailable: the row may be there.
func TestRowsCreateNeedsAll(t *testing.T) {
	dbs := files(t, 2)
	must(t, dbtest.Close(dbs[1]))
	stores := segmentsql.Rows(2, dbs...)
	config := segment.StripeConfig{Config: segment.Config{Create: true}}
	if gen, err := segment.Stripe(t.Context(), stores, "orders", config); !errors.Is(err, segment.ErrUnavailable) {
		t.Errorf("Stripe() = %v, %v, want ErrUnavailable", gen, err)
	}
	if err := stores[0].(segment.Creator).Create(t.Context(), "orders 1/2 x1000", 1, 10); err == nil {
		t.Error("Create() made a row")
	}
	if counters, err := segmentsql.LeafAlloc(dbs[0], segmentsql.Config{}).List(t.Context()); !errors.Is(err, segment.ErrUnknownTag) {
		t.Errorf("List() = %v, %v, want no table", counters, err)
	}
}

// A process starts while a database is unavailable or hangs, and uses its rows when it is back.
func TestRowsStartWithADatabaseUnavailable(t *testing.T) {
	for name, leave := range map[string]func(*dbtest.Pool){
		"unavailable": func(p *dbtest.Pool) { p.Cut(errLost) },
		"hangs":       func(p *dbtest.Pool) { p.Hang() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // half of a load's time is spent waiting
			db, pool := dbtest.New(t, "sqlite").Pooled(t)
			dbs := []*gorm.DB{db, files(t, 1)[0]}
			config := segment.StripeConfig{Block: 10, Config: segment.Config{Create: true, Step: 5, MaxStep: 5, LoadTimeout: 10 * time.Second}}
			must(t, stripe(t, 4, dbs, config).Close())
			leave(pool)
			config.Create = false
			gen := stripe(t, 4, dbs, config)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			used := map[uid.ID]bool{}
			for _, want := range []int{2, 4} {
				for n := 0; n < 100 || len(used) < want; n++ {
					id, err := gen.Wait(ctx)
					if err != nil {
						t.Fatalf("Wait() = %v, with rows %v", err, used)
					}
					used[id/10%4] = true
				}
				if len(used) != want {
					t.Errorf("rows used: %v, want %d", used, want)
				}
				pool.Heal()
			}
		})
	}
}

// A store takes ids back where it reserved them, and finds its row at once where that
// has moved to.
func TestRowFollowed(t *testing.T) {
	dbs := files(t, 2)
	store, tag := segmentsql.Rows(1, dbs...)[0], "orders 1/1 x1000"
	must(t, store.(segment.Creator).Create(t.Context(), tag, 1, 10))
	for _, first := range []int64{1, 5} {
		if f, n, err := store.Reserve(t.Context(), tag, 10); f != first || n != 10 || err != nil {
			t.Fatalf("Reserve() = %d, %d, %v, want 10 ids from %d", f, n, err, first)
		}
		if done, err := store.(segment.Returner).Return(t.Context(), tag, first+4, first+10); !done || err != nil {
			t.Fatalf("Return() = %v, %v", done, err)
		}
		if first == 1 {
			must(t, segmentsql.LeafAlloc(dbs[1], segmentsql.Config{}).Create(t.Context(), "another", 1, 10))
			execute(t, dbs[0], "DELETE FROM leaf_alloc")
			execute(t, dbs[1], "INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES (?, 5, 10)", tag)
		}
	}
}
