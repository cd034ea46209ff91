package segmentsql_test

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
)

var quiet = slog.New(slog.DiscardHandler)

// lax returns a store of a table of a kind whose counter has the type, on a server that
// writes the nearest value that a column holds. The row "orders" is at next.
func lax(t *testing.T, database, name, of string, next int64, out *logged.Text) (*segmentsql.Store, *dbtest.Store) {
	t.Helper()
	s := dbtest.New(t, database)
	k, url, step := kinds[name], s.Plain(), ", step INT, update_time TIMESTAMP"
	if database == "mysql" {
		url = s.With("sql_mode=''")
	}
	if name == "Sequence" {
		step = ""
	}
	s.Exec(t, "CREATE TABLE %s (%s VARCHAR(128) PRIMARY KEY, %s %s%s)", s.Table, k.tag, k.next, of, step)
	s.Exec(t, "INSERT INTO %s (%s, %s) VALUES ('orders', %d)", s.Table, k.tag, k.next, next)
	return k.open(s.Open(t, url), segmentsql.Config{Table: s.Table, Logger: out.Logger()}), s
}

// A counter in a column that is narrower than BIGINT ends where the column does, and no id
// repeats. The start warns, and the error says what to do.
func TestNarrowColumn(t *testing.T) {
	greatest := map[string]map[string]int64{
		"mysql": {
			"TINYINT": math.MaxInt8, "SMALLINT": math.MaxInt16, "SMALLINT UNSIGNED": math.MaxUint16, "MEDIUMINT": 1<<23 - 1,
			"INT": math.MaxInt32, "INT UNSIGNED": math.MaxUint32, "DECIMAL(10)": 9999999999,
		},
		"postgres": {"SMALLINT": math.MaxInt16, "INTEGER": math.MaxInt32},
	}
	for database, types := range greatest {
		for of, most := range types {
			for name := range kinds {
				t.Run(database+"/"+name+"/"+of, func(t *testing.T) {
					var out logged.Text
					store, s := lax(t, database, name, of, most-25, &out)
					want := func(err error) {
						t.Helper()
						wantErr(t, err, segment.ErrUnusable, "want BIGINT: ALTER TABLE")
					}
					seen := map[uid.ID]bool{}
					for range 3 { // processes
						gen, err := segment.New(t.Context(), store, "orders", segment.Config{Step: 10, MaxStep: 10, Logger: quiet})
						if err != nil {
							want(err)
							continue
						}
						id, err := gen.Next()
						for ; err == nil; id, err = gen.Next() {
							if seen[id] || int64(id) > most {
								t.Fatalf("id %d of a column up to %d; issued before: %v", id, most, seen[id])
							}
							seen[id] = true
						}
						want(err)
						must(t, gen.Close())
					}
					if len(seen) != 20 {
						t.Errorf("%d ids, want 20", len(seen))
					}
					_, err := store.Raise(t.Context(), "orders", most+1)
					want(err)
					want(store.Create(t.Context(), "another", 1, 10))
					if out.Count("level=WARN", "narrower than BIGINT", fmt.Sprintf("greatest=%d", most), "ALTER TABLE") != 1 || out.Count("level=WARN") != 1 {
						t.Errorf("logged %s, want one warning", &out)
					}
					_, alter, _ := strings.Cut(err.Error(), "ALTER TABLE")
					s.Exec(t, "ALTER TABLE%s", alter)
					reserves(t, store, "orders", most, most-5) // after the repair, on the same connection
				})
			}
		}
	}
}

// A column whose values are rounded, or compared as text or as floating-point numbers, is
// refused. A column that holds each BIGINT works, whatever its type.
func TestTypes(t *testing.T) {
	types := map[string]map[bool][]string{
		"mysql":    {true: {"BIGINT UNSIGNED", "DECIMAL(20)"}, false: {"DECIMAL(22,2)", "FLOAT", "DOUBLE", "VARCHAR(20)", "TEXT"}},
		"postgres": {true: {"NUMERIC", "NUMERIC(20)"}, false: {"REAL", "DOUBLE PRECISION", "VARCHAR(20)"}},
		"sqlite":   {true: {"INT", "TINYINT", "TEXT", "DECIMAL", ""}, false: {"REAL", "DOUBLE", "FLOAT"}},
	}
	for database, cases := range types {
		for works, kinds := range cases {
			for _, of := range kinds {
				t.Run(database+"/"+of, func(t *testing.T) {
					var out logged.Text
					store, _ := lax(t, database, "LeafAlloc", of, 1, &out)
					_, _, err := store.Reserve(t.Context(), "orders", 10)
					if !works {
						wantErr(t, err, segment.ErrUnusable, "want BIGINT")
						wantErr(t, store.Create(t.Context(), "another", 1, 10), segment.ErrUnusable, "want BIGINT")
						return
					}
					must(t, err)
					raises(t, store, 1<<62+1, 1<<62+1)
					reserves(t, store, "orders", 7, 1<<62+1)
					returns(t, store, 1<<62+3, 1<<62+8, true)
					if out.String() != "" {
						t.Errorf("logged %s", &out)
					}
				})
			}
		}
	}
}

// What the table has after a write counts, not what the server reports.
func TestReadBack(t *testing.T) {
	triggers := map[string]string{
		"sqlite": "CREATE TRIGGER %[1]s_cap AFTER UPDATE ON %[1]s WHEN NEW.max_id > 20 BEGIN UPDATE %[1]s SET max_id = 20; END",
		"mysql":  "CREATE TRIGGER %[1]s_cap BEFORE UPDATE ON %[1]s FOR EACH ROW SET NEW.max_id = LEAST(NEW.max_id, 20)",
	}
	for database, trigger := range triggers {
		t.Run(database, func(t *testing.T) {
			s := dbtest.New(t, database)
			store := created(t, s)
			s.Exec(t, trigger, s.Table)
			for _, c := range []struct {
				n    int64
				fits bool
			}{{10, true}, {10, false}, {10, false}, {9, true}} {
				if first, n, err := store.Reserve(t.Context(), "orders", c.n); (err == nil) != c.fits || err != nil && !errors.Is(err, segment.ErrUnusable) {
					t.Errorf("Reserve(%d) = %d, %d, %v", c.n, first, n, err)
				}
			}
			_, err := store.Raise(t.Context(), "orders", 30)
			wantErr(t, err, segment.ErrUnusable)
			raises(t, store, 1, 20) // where it was
		})
	}
}

// A trigger that uses LAST_INSERT_ID does not change which range is reserved.
func TestTriggers(t *testing.T) {
	s := dbtest.New(t, "mysql")
	audit := s.Another(t).Table
	s.Exec(t, "CREATE TABLE %s (id BIGINT AUTO_INCREMENT PRIMARY KEY, max_id BIGINT) AUTO_INCREMENT = 5000", audit)
	store, first := created(t, s), int64(1)
	for _, trigger := range []string{
		"BEFORE UPDATE ON %[1]s FOR EACH ROW INSERT INTO %[2]s (max_id) VALUES (NEW.max_id)",
		"AFTER UPDATE ON %[1]s FOR EACH ROW INSERT INTO %[2]s (max_id) VALUES (NEW.max_id)",
		"BEFORE UPDATE ON %[1]s FOR EACH ROW SET @%[2]s = LAST_INSERT_ID(7)",
		"AFTER UPDATE ON %[1]s FOR EACH ROW SET @%[2]s = LAST_INSERT_ID(7)",
	} {
		s.Exec(t, "CREATE TRIGGER %[1]s_trigger "+trigger, s.Table, audit)
		for range 2 {
			reserves(t, store, "orders", 10, first)
			first += 10
		}
		s.Exec(t, "DROP TRIGGER %s_trigger", s.Table)
	}
}
