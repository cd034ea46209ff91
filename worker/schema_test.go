package worker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// A table that a Java service made, and rows that it inserts.
func TestSharedWithJava(t *testing.T) {
	each(t, registries, func(t *testing.T, s *store) {
		s.createLike(t, map[string]string{
			"mysql": "BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY", "postgres": "BIGSERIAL PRIMARY KEY", "sqlite": "INTEGER PRIMARY KEY AUTOINCREMENT",
		}[s.Kind])
		if s.Kind == "mysql" {
			own := s.another(t)
			own.create(t)
			const query = `SELECT CONCAT_WS(' ', column_name, column_type, is_nullable, column_key, IF(extra = 'auto_increment', extra, ''))
				FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ? ORDER BY ordinal_position`
			var java, ours []string
			need.Must(t, errors.Join(s.DB.Raw(query, s.Table).Scan(&java).Error, s.DB.Raw(query, own.Table).Scan(&ours).Error))
			if len(java) != 7 || !slices.Equal(java, ours) {
				t.Errorf("columns %q\nwant    %q", ours, java)
			}
		}
		if got := []int64{assign(t, s.registry(s.DB)), s.draw(t), assign(t, s.registry(s.DB))}; !slices.Equal(got, []int64{1, 2, 3}) {
			t.Errorf("numbers %d, want 1, 2 and 3", got)
		}
		rows, err := s.registry(s.DB).Nodes(t.Context(), 0)
		if err != nil || len(rows) != 3 || rows[1].HostName != "java" || rows[1].Created.IsZero() || rows[1].LaunchDate.IsZero() {
			t.Errorf("rows %+v, %v", rows, err)
		}
	})
}

// failing returns a handle on which the first statement that has one of the given words in it fails with the error given.
func (s *store) failing(t *testing.T, with map[string]error) *gorm.DB {
	t.Helper()
	db, pool := s.Pooled(t)
	pool.Set(dbtest.Faults{Statement: func(_ context.Context, query string) error {
		for words, err := range with {
			if strings.Contains(query, words) {
				delete(with, words)
				return err
			}
		}
		return nil
	}})
	return db
}

var errMade = errors.New("made to fail")

// The loser of a race finds no table, fails to create it, and finds it then.
func TestEnsureSchemaLosesRace(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		missing := s.DB.Exec("SELECT 1 FROM " + s.Table).Error
		s.create(t)
		db := s.failing(t, map[string]error{"SELECT " + s.key: missing, "CREATE TABLE": errMade})
		if err := s.on(db).EnsureSchema(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// A table that exists but cannot be read is not created again: the second would
// count from the start. The error says what was being done.
func TestEnsureSchemaFails(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		for doing, statement := range map[string]string{"look for": "SELECT " + s.key, "create": "CREATE TABLE IF NOT EXISTS"} {
			for _, none := range []bool{false, doing == "look for"} {
				db := s.failing(t, map[string]error{statement: errMade})
				_, err := take(t, t.Context(), s.on(db, worker.StoreConfig{NoSchema: none}), max22)
				need.Error(t, err, errMade, "worker: "+doing+" "+s.prefix+"WORKER_", ": made to fail")
				if err := s.DB.Exec("SELECT 1 FROM " + s.Table).Error; err == nil {
					t.Error("the table was created")
				}
			}
		}
	})
}

// On a database that is not known, a Registry registers in a table that is there,
// and a Leaser refuses: it does not know how to ask for the time.
func TestUnknownDialect(t *testing.T) {
	s := newStore(t, "sqlite", leaser)
	db := s.Reopen(t, func(d gorm.Dialector) gorm.Dialector { return dbtest.Dialector{Dialector: d, As: "oracle"} }, gorm.Config{})
	_, drawn := try(t, s.registry(db), max22)
	_, made := try(t, s.leaser(db), max22)
	s.create(t)
	there := worker.StoreConfig{NoSchema: true}
	_, taken := try(t, s.leaser(db, there), max22)
	_, listed := s.leaser(db).Leases(t.Context(), 0)
	for _, err := range []error{drawn, made, taken, listed, s.leaser(db).Revoke(t.Context(), 0)} {
		need.Error(t, err, worker.ErrDialect, "oracle")
	}
	assign(t, s.registry(db, there))
	rows, err := s.registry(db).Nodes(t.Context(), 1)
	if err != nil || len(rows) != 1 || rows[0].HostName != node.Host || !rows[0].Created.IsZero() {
		t.Errorf("Nodes = %+v, %v", rows, err)
	}
}

func TestQualifiedTable(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		var schema string
		query := map[string]string{"mysql": "SELECT DATABASE()", "postgres": "SELECT CURRENT_SCHEMA()", "sqlite": "SELECT 'main'"}[s.Kind]
		need.Must(t, s.DB.Raw(query).Scan(&schema).Error)
		if got := assign(t, s.on(s.DB, worker.StoreConfig{Prefix: schema + "." + s.prefix})); got != 1 {
			t.Errorf("number %d, want 1", got)
		}
		wantNumbers(t, s, 1)
	})
}

// A table that lost its key could have two rows of a number: a start says what to do, and writes
// nothing. With a unique index in place of the key it goes on.
func TestTableWithoutKey(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		s.create(t)
		s.Exec(t, "CREATE TABLE %s_copy AS SELECT * FROM %[1]s", s.Table)
		s.Exec(t, "DROP TABLE %s", s.Table)
		s.Exec(t, "ALTER TABLE %s_copy RENAME TO %[1]s", s.Table)
		s.Exec(t, "CREATE INDEX %s_worker ON %[1]s (worker_id)", s.Table)
		_, err := try(t, s.leaser(s.DB), max22)
		_, statement, _ := strings.Cut(fmt.Sprint(err), "run: ")
		need.Error(t, err, worker.ErrKey, s.Table, "CREATE UNIQUE INDEX")
		wantNumbers(t, s)
		s.Exec(t, "%s", statement)
		if n := assign(t, s.leaser(s.DB)); n != 1 {
			t.Errorf("number %d, want 1", n)
		}
	})
}

// A role without the right to read the table, whose search path begins with a
// schema of its own.
func TestNoRightToRead(t *testing.T) {
	on(t, []string{"postgres"}, leasers, func(t *testing.T, s *store) {
		s.create(t)
		role := strings.ToLower(s.Table)
		s.Exec(t, "CREATE ROLE %s", role)
		defer s.Exec(t, "DROP ROLE %s", role)
		s.Exec(t, "CREATE SCHEMA %[1]s AUTHORIZATION %[1]s", role)
		defer s.Exec(t, "DROP OWNED BY %s", role)
		for _, kind := range tables {
			s.Exec(t, "GRANT INSERT ON %s TO %s", s.prefix+kind.table, role)
		}

		db := s.Open(t, s.With("role="+role+"&search_path="+role+",public"))
		_, err := take(t, t.Context(), s.leaser(db), max22)
		need.Error(t, err, nil, "permission denied")
		_, err = s.leaser(db).Leases(t.Context(), 1)
		need.Error(t, err, nil, "the user needs GRANT "+s.leaser(s.DB).Grants()[0])
		for _, kind := range tables {
			if err := s.DB.Exec("SELECT 1 FROM " + role + "." + s.prefix + kind.table).Error; err == nil {
				t.Error("a second table was created")
			}
		}

		hidden := role + "_hidden" // a schema that PostgreSQL passes over
		s.Exec(t, "CREATE SCHEMA %s", hidden)
		defer s.Exec(t, "DROP SCHEMA %s CASCADE", hidden)
		need.Must(t, s.on(s.Open(t, s.With("search_path="+hidden))).EnsureSchema(t.Context()))
		db = s.Open(t, s.With("role="+role+"&search_path="+hidden+","+role))
		wants := func(grant string) {
			t.Helper()
			need.Error(t, s.leaser(db).EnsureSchema(t.Context()), nil, "the user needs GRANT "+grant)
		}
		wants("USAGE ON SCHEMA " + hidden)
		s.Exec(t, "GRANT USAGE ON SCHEMA %s TO %s", hidden, role)
		wants(s.registry(db).Grants()[0])
		s.Exec(t, "DROP TABLE %s.%s", hidden, s.prefix+"WORKER_NODE")
		wants("CREATE ON SCHEMA " + hidden)
	})
}

func TestAssignRow(t *testing.T) {
	each(t, registries, func(t *testing.T, s *store) {
		db := s.elsewhere(t)
		container := lease.Node{Host: "pod-ä-1", Port: "80", Type: lease.NodeContainer}
		before := time.Now().Truncate(time.Second)
		assign(t, s.registry(db))
		assign(t, s.registry(db, lease.Config{Node: container}))
		after := time.Now()

		for limit, want := range map[int]int{0: 2, 1: 1} {
			rows, err := s.registry(db).Nodes(t.Context(), limit)
			if err != nil || len(rows) != want {
				t.Fatalf("Nodes(%d): %d rows, %v; want %d", limit, len(rows), err, want)
			}
			for i, row := range rows {
				if want := []lease.Node{container, node}[i]; row.ID != int64(2-i) ||
					(lease.Node{Host: row.HostName, Port: row.Port, Type: row.Type}) != want {
					t.Errorf("row %+v, want %d %+v", row, 2-i, want)
				}
				for _, at := range []time.Time{row.Created, row.Modified} {
					if at.Before(before) || at.After(after) {
						t.Errorf("row %+v: %v is not in %v..%v", row, at, before, after)
					}
				}
				if day := row.LaunchDate; day != day.Truncate(24*time.Hour) || row.Created.Sub(day).Abs() > 48*time.Hour {
					t.Errorf("row %+v: launched on %v", row, day)
				}
			}
		}
	})
}
