package backfill_test

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/internal/test/need"
)

const small = "31/22/4,epoch=2026-01-01" // 16 ids a tick

// Rows get ids of their own time, in their order. Rows that have an id keep it, and all other columns stay. What the
// command prints then runs in the database's own client.
func TestBackfill(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		s.start(t, small)
		s.insert(t, 2000, time.Minute)
		need.Must(t, s.Exec("UPDATE orders SET created_at = ?, changed = ? WHERE id BETWEEN 101 AND 200", s.oldest.Add(100*time.Minute), s.oldest).Error) // 100 rows in a tick
		if dry := uidring.Succeed(t, s.args("--dry-run")...); !strings.Contains(dry, "2000 rows without an id, from 2026-03-01T12:00:00Z to 2026-03-02T21:19:00Z") || s.number(t, "SELECT COUNT(uid) FROM orders") != 0 {
			t.Errorf("a dry run says %q", dry)
		}
		before := s.number(t, "SELECT COUNT(DISTINCT changed) + COUNT(DISTINCT created_at) FROM orders")
		script := uidring.Succeed(t, s.args("--batch", "37")...)
		if want := "-- orders: 2000 rows have got an id, under worker number 2; of all 2000 rows, each has an id, no two are equal, and 1916 carry the tick of created_at, the others one at most 6s away\n"; !strings.HasPrefix(script, want) {
			t.Errorf("%s, want %s", script, want)
		}
		s.ages(t, small, 6*time.Second)
		if after := s.number(t, "SELECT COUNT(DISTINCT changed) + COUNT(DISTINCT created_at) FROM orders"); after != before {
			t.Errorf("another column has changed")
		}
		sum := s.number(t, "SELECT CAST(SUM(uid / 1000000) AS DECIMAL) FROM orders")
		again := uidring.Succeed(t, s.args()...)
		if !strings.Contains(again, "0 rows have got an id; of all 2000 rows") || s.number(t, "SELECT CAST(SUM(uid / 1000000) AS DECIMAL) FROM orders") != sum {
			t.Errorf("again: %s", again)
		}
		clitest.Client(t, s.owner, script)
		if s.kind != "sqlite" {
			if err := s.Exec("INSERT INTO orders (created_at, uid) VALUES (?, NULL)", s.oldest).Error; err == nil {
				t.Error("a row without an id is accepted")
			}
			_, primary, _ := strings.Cut(script, "-- ALTER")
			clitest.Client(t, s.owner, map[string]string{"mysql": "ALTER TABLE orders MODIFY id BIGINT NOT NULL; "}[s.kind]+"ALTER"+primary)
		}
		if err := s.Exec("INSERT INTO orders (id, created_at, uid) SELECT 5000, created_at, uid FROM orders WHERE id = 1").Error; err == nil {
			t.Error("an id is accepted twice")
		}
	})
}

// Rows of one time may be on both sides of where a SELECT ends: one pass finds all, under one worker number.
func TestWindows(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		s.start(t, "fleet")
		s.insert(t, 10_100, time.Second/7) // created_at has whole seconds, so that the 10,000th row and the next have one time
		uidring.Show(t, "10100 rows have got an id, under worker number 2;", s.args("--batch", "999")...)
		s.ages(t, "fleet", 0)
	})
}

// Keys are of any type that has an order, names of any kind, and a store of worker numbers may be another one.
func TestKeys(t *testing.T) {
	types := map[string][]string{
		"mysql":    {"VARCHAR(40) CHARACTER SET utf8mb4", "VARCHAR(40) CHARACTER SET latin1", "BINARY(16)", "BIGINT UNSIGNED", "DECIMAL(20)", "INT"},
		"postgres": {"UUID", "TEXT", "BYTEA", "NUMERIC(20)", "INT"},
		"sqlite":   {"TEXT", "BLOB", "INT"},
	}
	each(t, func(t *testing.T, s *shop) {
		store := filepath.Join(t.TempDir(), "numbers.db")
		uidring.Succeed(t, "gen", "--dsn", store)
		quote := s.Statement.Quote
		for i, kind := range types[s.kind] {
			name := []string{"order", "Order Lines", "key", "a-b", "group", "x"}[i]
			need.Must(t, s.Exec(fmt.Sprintf("CREATE TABLE %s (%s %s UNIQUE NOT NULL, %s TIMESTAMP, %s BIGINT)", quote(name), quote("key"), kind, quote("time"), quote("Uid"))).Error)
			for n := range 50 {
				key := any(n)
				switch word, _, _ := strings.Cut(kind, "("); word {
				case "VARCHAR", "TEXT":
					key = fmt.Sprintf("É'%d", n)
				case "UUID":
					key = fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
				case "BINARY", "BLOB", "BYTEA":
					key = []byte(fmt.Sprintf("\xff\x00%014d", n))
				}
				need.Must(t, s.Exec(fmt.Sprintf("INSERT INTO %s VALUES ( ?, ?, NULL)", quote(name)), key, s.oldest.Add(time.Duration(n/5)*time.Hour)).Error)
			}
			got := uidring.Invoke(t, "", "backfill", "--table", name, "--key", "key", "--time", "time", "--column", "Uid", "--dsn", s.dsn, "--batch", "7", "--store", store)
			clitest.Wants(t, got.Stdout+got.Stderr, "50 rows have got an id, under worker number", "and 50 carry the tick", "no index of "+name+" begins with time")
		}
	})
}

// Bad input is refused, in words that name it. Nothing is written.
func TestRefused(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		s.start(t, small)
		s.insert(t, 3, time.Minute)
		auto := map[string]string{"mysql": "BIGINT", "postgres": "BIGINT", "sqlite": "INTEGER"}[s.kind]
		for _, statement := range []string{
			"CREATE VIEW seen AS SELECT * FROM orders",
			"CREATE TABLE two (a BIGINT, b BIGINT, t TIMESTAMP NULL, n BIGINT NOT NULL, f INT, s VARCHAR(9), r REAL, u BIGINT, PRIMARY KEY (a, b))",
			"CREATE TABLE keyless (id BIGINT, t TIMESTAMP NULL, u BIGINT)",
			"CREATE TABLE old (id " + auto + " PRIMARY KEY, t TIMESTAMP NULL, u BIGINT)",
			"CREATE TABLE young (id " + auto + " PRIMARY KEY, t TIMESTAMP NULL, u BIGINT)",
			"CREATE TABLE without (id " + auto + " PRIMARY KEY, t TIMESTAMP NULL, u BIGINT)",
			"INSERT INTO old VALUES (1, '2025-12-31 23:59:59', NULL)",
			"INSERT INTO young VALUES (1, '2037-01-01 00:00:00', NULL)",
			"INSERT INTO without VALUES (1, NULL, NULL)",
		} {
			need.Must(t, s.Exec(statement).Error)
		}
		nodes := "SELECT COUNT(*) FROM " + map[string]string{"mysql": "WORKER_NODE", "postgres": "worker_node", "sqlite": "WORKER_NODE"}[s.kind]
		rows := s.number(t, nodes)
		for _, tt := range []struct{ table, key, time, column, want string }{
			{"nope", "id", "t", "u", "--table nope: there is no such table"},
			{"seen", "id", "created_at", "uid", "--table seen: it is a view, want the table behind it"},
			{"orders", "id", "created_at", "nope", "--column nope: orders has no such column, it has id, created_at, changed, uid"},
			{"orders", "uid", "created_at", "uid", "--key uid: it does not identify a row; the primary key is (id)"},
			{"orders", "id", "id", "id", "--column id: it is the key or the time"},
			{"two", "a", "t", "u", "--key a: it does not identify a row; the primary key is (a, b)"},
			{"two", "a", "u", "n", "--time u: its type is \"bigint"},
			{"two", "a", "t", "n", "--column n: it cannot be NULL"},
			{"two", "a", "t", "s", "--column s: its type is "},
			{"two", "a", "t", "r", "--column r: its type is "},
			{"keyless", "id", "t", "u", "--key id: it does not identify a row; want a primary key"},
			{"old", "id", "t", "u", "--time t: the oldest row is of 2025-12-31T23:59:59Z, before the layout's epoch, 2026-01-01T00:00:00Z"},
			{"young", "id", "t", "u", "--time t: the newest row is of 2037-01-01T00:00:00Z, which is in the future"},
			{"without", "id", "t", "u", "--time t: it is NULL in 1 of the rows without an id"},
		} {
			for _, more := range [][]string{nil, {"--dry-run"}} {
				args := append([]string{"backfill", "--table", tt.table, "--key", tt.key, "--time", tt.time, "--column", tt.column, "--dsn", s.dsn}, more...)
				uidring.Fail(t, 1, tt.want, args...)
			}
		}
		if s.kind != "sqlite" {
			uidring.Fail(t, 1, "--column f: its type is \"int", "backfill", "--table", "two", "--key", "a", "--time", "t", "--column", "f", "--dsn", s.dsn)
			s.rights(t)
		}
		if again := s.number(t, nodes); again != rows || s.number(t, "SELECT COUNT(uid) FROM orders") != 0 {
			t.Errorf("something was written")
		}
	})
}

// rights tests a user who lacks the right to change the table, and then one who lacks it on the worker numbers.
func (s *shop) rights(t *testing.T) {
	t.Helper()
	user := s.url.User.Username()
	as := func(want string) {
		t.Helper()
		args := s.args()
		args[len(args)-1] = s.url.String()
		uidring.Fail(t, 1, want, args...)
	}
	const grants = "backfill needs GRANT SELECT, UPDATE (uid) ON orders"
	if s.kind == "postgres" { // where a server that any database may be used on says so first
		need.Must(t, s.Exec("GRANT USAGE ON SCHEMA public TO "+user).Error)
	}
	as(map[string]string{"mysql": "ccess denied", "postgres": grants}[s.kind])
	need.Must(t, s.Exec("GRANT SELECT ON orders TO "+user).Error)
	as(grants)
	need.Must(t, s.Exec("GRANT UPDATE (uid) ON orders TO "+user).Error)
	as("WORKER_")
}

// The layout is that of the store: a store without one is refused, and another one too.
func TestLayout(t *testing.T) {
	s := newShop(t, "sqlite")
	s.insert(t, 3, time.Minute)
	uidring.Fail(t, 1, "start the service that gives new rows their ids", s.args()...)
	uidring.Show(t, "31/16/16", s.args("--layout", "fleet", "--dry-run")...)
	if n := s.number(t, "SELECT COUNT(*) FROM sqlite_master WHERE name LIKE 'WORKER%'"); n != 0 {
		t.Errorf("a dry run made %d tables", n)
	}
	s.start(t, small)
	clitest.Wants(t, uidring.Fail(t, 1, "its ids have the layout "+small, s.args("--layout", "fleet")...), "leave out --layout")
	uidring.Succeed(t, s.args("--layout", small)...)
	for _, args := range [][]string{{"--zone", "Atlantis/Capital"}, {"--batch", "0"}, {"--rate", "-1"}, {"--store", "nope"}} {
		uidring.Fail(t, 2, args[0], s.args(args...)...)
	}
}

// Times without a zone are read in that of --zone, in all forms in which SQLite has them.
func TestZone(t *testing.T) {
	for _, kind := range []string{"sqlite", "mysql", "postgres"} {
		s := newShop(t, kind)
		s.start(t, small)
		need.Must(t, s.Exec("INSERT INTO orders (created_at, changed) VALUES ('2026-03-01 12:00:00', '2026-07-01 12:00:00')").Error)
		if kind == "sqlite" {
			for _, text := range []string{"2026-07-01 10:00:00+00:00", "2026-07-01T12:00:00", "2026-07-01 12:00", "2026-07-01T10:00:00.000Z", "2026-07-01 10:00:00 +0000 UTC"} {
				need.Must(t, s.Exec("INSERT INTO orders (created_at, changed) VALUES ('2026-03-01', '"+text+"')").Error)
			}
		}
		args := s.args("--zone", "Europe/Paris")
		args[6] = "changed"
		if got := uidring.Invoke(t, "", args...); got.Code != 0 {
			t.Fatalf("%s: %+v", kind, got)
		}
		ids := clitest.Allocator(t, small)
		first, err := ids.FirstID(time.Date(2026, time.July, 1, 10, 0, 0, 0, time.UTC))
		need.Must(t, err)
		last, err := ids.LastID(time.Date(2026, time.July, 1, 10, 0, 0, 0, time.UTC))
		need.Must(t, err)
		if n, all := s.number(t, "SELECT COUNT(*) FROM orders WHERE uid BETWEEN ? AND ?", first, last), s.number(t, "SELECT COUNT(*) FROM orders"); n != all {
			t.Errorf("%s: %d of %d ids have the time", kind, n, all)
		}
	}
	s := newShop(t, "sqlite")
	s.start(t, small)
	need.Must(t, s.Exec("INSERT INTO orders (created_at) VALUES ('yesterday'), ('2026-03-01')").Error)
	uidring.Fail(t, 1, "--time created_at: yesterday is not a time such as", s.args()...)
	zoned := newShop(t, "mysql")
	u, err := url.Parse(zoned.dsn)
	need.Must(t, err)
	u.RawQuery = url.Values{"time_zone": {"'+08:00'"}}.Encode()
	zoned.dsn = u.String()
	uidring.Fail(t, 1, "the session's time zone is +08:00", zoned.args()...)
}

// What is wrong with the ids of the table is found at the end: one that is there twice, and one that the database has
// not kept as it was written. Those of another layout are counted.
func TestVerified(t *testing.T) {
	for _, tt := range []struct{ statement, want string }{
		{"UPDATE orders SET uid = 268435456 WHERE id < 3", "uid 268435456 is in several rows"},
		{"CREATE TRIGGER moved AFTER UPDATE OF uid ON orders WHEN NEW.id = 2 BEGIN UPDATE orders SET uid = NEW.uid + 67108864 WHERE id = 2; END", "the row with id 2: uid "},
		{"CREATE TRIGGER moved AFTER UPDATE OF uid ON orders WHEN NEW.id = 2 BEGIN UPDATE orders SET uid = NEW.uid - 67108864 WHERE id = 2; END", "the row with id 2: uid "},
		{"CREATE TRIGGER never AFTER UPDATE OF uid ON orders BEGIN UPDATE orders SET uid = NULL WHERE id = 2; END", "rows without uid keep coming"},
	} {
		s := newShop(t, "sqlite")
		s.start(t, small)
		s.insert(t, 5, time.Minute)
		need.Must(t, s.Exec(tt.statement).Error)
		uidring.Fail(t, 1, tt.want, s.args()...)
	}
	s := newShop(t, "sqlite")
	s.start(t, small)
	s.insert(t, 5, time.Minute)
	need.Must(t, s.Exec("UPDATE orders SET uid = -5 WHERE id = 3").Error)
	uidring.Show(t, "and 4 carry the tick of created_at; 1 are not of the layout "+small, s.args()...)
}
