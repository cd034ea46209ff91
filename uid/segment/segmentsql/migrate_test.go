package segmentsql_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
	"github.com/uidring/uidring/uid/uidgorm"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// The keys of a model come from a counter in the same database.
func Example_gorm() {
	type Order struct {
		ID    uid.ID
		Buyer string
	}
	ctx := context.Background()
	db, err := dbtest.Open(":memory:")
	check(err)
	defer dbtest.Close(db)

	gen, err := segment.New(ctx, segmentsql.NewLeafAlloc(db, segmentsql.Config{}), "orders", segment.Config{Create: true})
	check(err)
	defer gen.Close()
	check(db.Use(uidgorm.New(gen, uidgorm.Config{})))
	check(db.AutoMigrate(&Order{}))

	orders := []Order{{Buyer: "ann"}, {Buyer: "bob"}}
	check(db.Create(&orders).Error)
	fmt.Println(orders[0].ID, orders[1].ID)
	// Output: 1 2
}

// A table whose keys the database counted takes them from a counter that is raised above them. This
// is what docs/migrating.md says.
func TestFromAutoIncrement(t *testing.T) {
	keys := map[string]string{
		"sqlite":   "INTEGER PRIMARY KEY AUTOINCREMENT",
		"mysql":    "BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY",
		"postgres": "BIGSERIAL PRIMARY KEY",
	}
	dbtest.Each(t, func(t *testing.T, s *dbtest.Store) {
		if s.Kind == "postgres" { // the case of letters counts, as it does for GORM
			s.Table = strings.ToLower(s.Table)
		}
		s.Exec(t, "CREATE TABLE %s (id %s, buyer VARCHAR(20))", s.Table, keys[s.Kind])
		for range 50 {
			s.Exec(t, "INSERT INTO %s (buyer) VALUES ('ann')", s.Table)
		}
		counters := s.Another(t)
		store := segmentsql.NewLeafAlloc(s.DB, segmentsql.Config{Table: counters.Table})
		must(t, store.Create(t.Context(), "orders", 1, 1000))
		for want := int64(51); want < 251; want += 100 { // the second time, nothing is to do
			if next, err := store.RaiseAbove(t.Context(), "orders", s.Table, "id"); next != want || err != nil {
				t.Fatalf("RaiseAbove() = %d, %v, want %d", next, err, want)
			}
			reserves(t, store, "orders", 100, want)
			s.Exec(t, "INSERT INTO %s (id, buyer) VALUES (%d, 'bob')", s.Table, want+99)
		}
		s.Exec(t, "INSERT INTO %s (id, buyer) VALUES (9223372036854775807, 'ann')", s.Table)
		_, err := store.RaiseAbove(t.Context(), "orders", s.Table, "id")
		wantErr(t, err, segment.ErrUsedUp)
		_, err = store.RaiseAbove(t.Context(), "none", s.Table, "id")
		wantErr(t, err, nil)
		if _, err := store.RaiseAbove(t.Context(), "orders", s.Table, "buyer"); err == nil || strings.Contains(err.Error(), "panic") {
			t.Errorf("RaiseAbove() = %v for a column that is no key", err)
		}
	})
}
