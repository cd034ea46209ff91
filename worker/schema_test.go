package worker_test

import (
	"context"
	"errors"
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

// A table that a Java service made, and rows that it inserts, with NOW() as it
// does where the database has that.
func TestSharedWithJava(t *testing.T) {
	each(t, registries, func(t *testing.T, s *store) {
		now := "NOW()"
		switch s.Kind {
		case "mysql":
			s.createLike(t, "BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY")
			own := s.another(t)
			own.create(t)
			const query = `SELECT CONCAT_WS(' ', column_name, column_type, is_nullable, column_key, IF(extra = 'auto_increment', extra, ''))
				FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ? ORDER BY ordinal_position`
			var java, ours []string
			need.Must(t, errors.Join(s.DB.Raw(query, s.Table).Scan(&java).Error, s.DB.Raw(query, own.Table).Scan(&ours).Error))
			if len(java) != 7 || !slices.Equal(java, ours) {
				t.Errorf("columns %q\nwant    %q", ours, java)
			}
		case "postgres":
			s.createLike(t, "BIGSERIAL PRIMARY KEY")
		case "sqlite":
			s.createLike(t, "INTEGER PRIMARY KEY AUTOINCREMENT")
			now = "CURRENT_TIMESTAMP"
		}
		if got := assign(t, s.registry(s.DB)); got != 1 {
			t.Errorf("number %d, want 1", got)
		}
		s.Exec(t, `INSERT INTO %s (HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED)
			VALUES ('java', '1463725200000-7', 2, %s, %[2]s, %[2]s)`, s.Table, now)
		if got := assign(t, s.registry(s.DB)); got != 3 {
			t.Errorf("number %d, want 3", got)
		}
		rows, err := s.registry(s.DB).Nodes(context.Background(), 0)
		if err != nil || len(rows) != 3 || rows[1].HostName != "java" || rows[1].Created.IsZero() || rows[1].LaunchDate.IsZero() {
			t.Errorf("rows %+v, %v", rows, err)
		}
	})
}

// failing makes the first statement that has one of the given words in it fail
// with the error given.
func failing(t *testing.T, db *gorm.DB, with map[string]error) {
	t.Helper()
	fail := func(tx *gorm.DB) {
		for words, err := range with {
			if strings.Contains(tx.Statement.SQL.String(), words) {
				delete(with, words)
				_ = tx.AddError(err)
			}
		}
	}
	need.Must(t, errors.Join(
		db.Callback().Raw().Before("gorm:raw").Register("test:failing", fail),
		db.Callback().Row().Before("gorm:row").Register("test:failing", fail),
	))
}

var errMade = errors.New("made to fail")

// The loser of a race finds no table, fails to create it, and finds it then.
func TestEnsureSchemaLosesRace(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		missing := s.DB.Exec("SELECT 1 FROM " + s.Table).Error
		s.create(t)
		db := s.Reopen(t, nil, gorm.Config{})
		failing(t, db, map[string]error{"SELECT " + s.key: missing, "CREATE TABLE": errMade})
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
				db := s.Reopen(t, nil, gorm.Config{})
				failing(t, db, map[string]error{statement: errMade})
				number, err := take(t, context.Background(), s.on(db, worker.StoreConfig{NoSchema: none}), max22)
				if number != 0 || !errors.Is(err, errMade) || !strings.HasPrefix(err.Error(), "worker: "+doing+" "+s.prefix+"WORKER_") || !strings.Contains(err.Error(), ": made to fail") {
					t.Errorf("NoSchema %t: %d, %v; want that it could not %s the table", none, number, err, doing)
				}
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
	for _, a := range tables {
		t.Run(a.name, func(t *testing.T) {
			s := newStore(t, "sqlite", a)
			db := s.Reopen(t, func(d gorm.Dialector) gorm.Dialector { return dbtest.Dialector{Dialector: d, As: "oracle"} }, gorm.Config{})
			number, err := take(t, context.Background(), s.on(db), max22)
			if number != 0 || !errors.Is(err, worker.ErrDialect) || !strings.Contains(err.Error(), "oracle") {
				t.Errorf("%d, %v; want ErrDialect that names oracle", number, err)
			}
			s.create(t)
			if s.name == "leaser" {
				l := s.leaser(db, worker.StoreConfig{NoSchema: true})
				_, taken := try(t, l, max22)
				_, listed := l.Leases(context.Background(), 0)
				for _, err := range []error{taken, listed, l.Revoke(context.Background(), 0)} {
					if !errors.Is(err, worker.ErrDialect) || !strings.Contains(err.Error(), "oracle") {
						t.Errorf("%v; want ErrDialect that names oracle", err)
					}
				}
				return
			}
			assign(t, s.registry(db, worker.StoreConfig{NoSchema: true}))
			rows, err := s.registry(db).Nodes(context.Background(), 1)
			if err != nil || len(rows) != 1 || rows[0].HostName != node.Host || !rows[0].Created.IsZero() {
				t.Errorf("Nodes = %+v, %v", rows, err)
			}
		})
	}
}

func TestQualifiedTable(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		var schema string
		query := map[string]string{"mysql": "SELECT DATABASE()", "postgres": "SELECT CURRENT_SCHEMA()", "sqlite": "SELECT 'main'"}[s.Kind]
		need.Must(t, s.DB.Raw(query).Scan(&schema).Error)
		if got := assign(t, s.on(s.DB, worker.StoreConfig{Prefix: schema + "." + s.prefix})); got != first {
			t.Errorf("number %d, want %d", got, first)
		}
		wantNumbers(t, s, first)
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
		if !errors.Is(err, worker.ErrKey) {
			t.Fatalf("%v, want ErrKey", err)
		}
		_, statement, _ := strings.Cut(err.Error(), "run: ")
		wantAll(t, err, s.Table, "CREATE UNIQUE INDEX")
		wantNumbers(t, s)
		s.Exec(t, "%s", statement)
		if n := assign(t, s.leaser(s.DB)); n != first {
			t.Errorf("number %d, want %d", n, first)
		}
	})
}

// A role without the right to read the table, whose search path begins with a
// schema of its own.
func TestNoRightToRead(t *testing.T) {
	on(t, []string{"postgres"}, tables, func(t *testing.T, s *store) {
		s.create(t)
		role := strings.ToLower(s.Table)
		s.Exec(t, "CREATE ROLE %s", role)
		defer s.Exec(t, "DROP ROLE %s", role)
		s.Exec(t, "CREATE SCHEMA %[1]s AUTHORIZATION %[1]s", role)
		defer s.Exec(t, "DROP OWNED BY %s", role)
		for _, kind := range tables {
			if table := s.prefix + kind.table; s.name == "leaser" || kind.name == "registry" {
				s.Exec(t, "GRANT INSERT ON %s TO %s", table, role)
			}
		}

		db := s.Open(t, s.With("role="+role+"&search_path="+role+",public"))
		number, err := take(t, context.Background(), s.on(db), max22)
		if number != 0 || err == nil || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("%d, %v; want that permission is denied", number, err)
		}
		switch l := s.on(db).(type) {
		case *worker.Registry:
			_, err = l.Nodes(t.Context(), 1)
		case leaserOn:
			_, err = l.Leases(t.Context(), 1)
		}
		if want := "the user needs GRANT " + s.on(s.DB).(interface{ Grants() []string }).Grants()[0]; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("list: %v; want %s", err, want)
		}
		if err := s.DB.Exec("SELECT 1 FROM " + role + "." + s.Table).Error; err == nil {
			t.Error("a second table was created")
		}

		hidden := role + "_hidden" // a schema that PostgreSQL passes over
		s.Exec(t, "CREATE SCHEMA %s", hidden)
		defer s.Exec(t, "DROP SCHEMA %s CASCADE", hidden)
		need.Must(t, s.on(s.Open(t, s.With("search_path="+hidden))).EnsureSchema(t.Context()))
		db = s.Open(t, s.With("role="+role+"&search_path="+hidden+","+role))
		wants := func(grant string) {
			t.Helper()
			if err := s.on(db).EnsureSchema(t.Context()); err == nil || !strings.Contains(err.Error(), "the user needs GRANT "+grant) {
				t.Errorf("%v; want %s", err, grant)
			}
		}
		wants("USAGE ON SCHEMA " + hidden)
		s.Exec(t, "GRANT USAGE ON SCHEMA %s TO %s", hidden, role)
		wants("SELECT, INSERT ON " + s.prefix + "WORKER_NODE")
		s.Exec(t, "DROP TABLE %s.%s", hidden, s.prefix+"WORKER_NODE")
		wants("CREATE ON SCHEMA " + hidden)
	})
}

func TestAssignRow(t *testing.T) {
	each(t, registries, func(t *testing.T, s *store) {
		db := s.elsewhere(t)
		ctx := context.Background()
		container := lease.Node{Host: "pod-ä-1", Port: "80", Type: lease.NodeContainer}
		before := time.Now().Truncate(time.Second)
		assign(t, s.registry(db))
		assign(t, s.registry(db, lease.Config{Node: container}))
		after := time.Now()

		for limit, want := range map[int]int{0: 2, 1: 1, 2: 2, 9: 2} {
			rows, err := s.registry(db).Nodes(ctx, limit)
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
