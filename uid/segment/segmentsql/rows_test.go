package segmentsql_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/dbtest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
)

// files returns n databases.
func files(t *testing.T, n int) (dbs []*gorm.DB) {
	for range n {
		db, err := dbtest.Open(filepath.Join(t.TempDir(), "rows.db"))
		if err != nil {
			t.Fatal(err)
		}
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

// Rows over databases, one of which goes: its rows are moved while a process runs,
// and no id repeats.
func TestRowsMove(t *testing.T) {
	dbs := files(t, 3)
	config := segment.StripeConfig{Block: 10, Config: segment.Config{Create: true, Step: 5, MaxStep: 5}}
	gen, err := segment.Stripe(t.Context(), segmentsql.Rows(5, dbs...), "orders", config)
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close()
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
	if err := dbs[0].Raw("SELECT biz_tag FROM leaf_alloc ORDER BY biz_tag").Scan(&tags).Error; err != nil || len(tags) != 2 {
		t.Fatalf("the first database has %q, %v, want 2 rows of 5", tags, err)
	}
	for _, tag := range tags {
		var next int64
		err := dbs[0].Transaction(func(tx *gorm.DB) error {
			if err := tx.Raw("SELECT max_id FROM leaf_alloc WHERE biz_tag = ?", tag).Scan(&next).Error; err != nil {
				return err
			}
			return tx.Exec("DELETE FROM leaf_alloc WHERE biz_tag = ?", tag).Error
		})
		if err != nil {
			t.Fatal(err)
		}
		draw(20)
		execute(t, dbs[1], "INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES (?, ?, 5)", tag, next)
	}
	draw(1000)
	if err := gen.Close(); err != nil {
		t.Fatal(err)
	}
	// Whoever starts afterwards finds the rows, and goes on upwards.
	config.Create = false
	if gen, err = segment.Stripe(t.Context(), segmentsql.Rows(5, dbs[2], dbs[1]), "orders", config); err != nil {
		t.Fatal(err)
	}
	defer gen.Close()
	if rows := draw(500); len(rows) != 5 {
		t.Errorf("rows used: %v, want all 5", rows)
	}
}

// What does not fit together is refused at the start.
func TestRowsRefused(t *testing.T) {
	dbs := files(t, 2)
	config := segment.StripeConfig{Config: segment.Config{Create: true}}
	gen, err := segment.Stripe(t.Context(), segmentsql.Rows(4, dbs...), "orders", config)
	if err != nil {
		t.Fatal(err)
	}
	if err := gen.Close(); err != nil {
		t.Fatal(err)
	}
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
	refused(segment.ErrConfig, "one store", config, segmentsql.Rows(0, dbs...))
	refused(segmentsql.ErrDB, "one database", config, segmentsql.Rows(4))
	execute(t, dbs[1], "INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('orders 1/4 x1000', 1, 5)")
	refused(segmentsql.ErrOverlap, "orders 1/4 x1000", segment.StripeConfig{}, segmentsql.Rows(4, dbs...))
	refused(segmentsql.ErrOverlap, "orders 1/4 x1000", config, segmentsql.Rows(4, dbs...))
}

// No row is made while a database is away: the row may be there.
func TestRowsCreateNeedsAll(t *testing.T) {
	dbs := files(t, 2)
	if err := dbtest.Close(dbs[1]); err != nil {
		t.Fatal(err)
	}
	stores := segmentsql.Rows(2, dbs...)
	config := segment.StripeConfig{Config: segment.Config{Create: true}}
	if gen, err := segment.Stripe(t.Context(), stores, "orders", config); !errors.Is(err, segment.ErrAway) {
		t.Errorf("Stripe() = %v, %v, want ErrAway", gen, err)
	}
	if err := stores[0].(segment.Creator).Create(t.Context(), "orders 1/2 x1000", 1, 10); err == nil {
		t.Error("Create() made a row")
	}
	if counters, err := segmentsql.LeafAlloc(dbs[0]).List(t.Context()); !errors.Is(err, segment.ErrUnknownTag) {
		t.Errorf("List() = %v, %v, want no table", counters, err)
	}
}

// A store takes ids back where it reserved them, and finds its row at once where that
// has moved to.
func TestRowFollowed(t *testing.T) {
	dbs := files(t, 2)
	store, tag := segmentsql.Rows(1, dbs...)[0], "orders 1/1 x1000"
	if err := store.(segment.Creator).Create(t.Context(), tag, 1, 10); err != nil {
		t.Fatal(err)
	}
	for _, first := range []int64{1, 5} {
		if f, n, err := store.Reserve(t.Context(), tag, 10); f != first || n != 10 || err != nil {
			t.Fatalf("Reserve() = %d, %d, %v, want 10 ids from %d", f, n, err, first)
		}
		if done, err := store.(segment.Returner).Return(t.Context(), tag, first+4, first+10); !done || err != nil {
			t.Fatalf("Return() = %v, %v", done, err)
		}
		if first == 1 {
			if err := segmentsql.LeafAlloc(dbs[1]).Create(t.Context(), "another", 1, 10); err != nil {
				t.Fatal(err)
			}
			execute(t, dbs[0], "DELETE FROM leaf_alloc")
			execute(t, dbs[1], "INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES (?, 5, 10)", tag)
		}
	}
}
