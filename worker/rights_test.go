package worker_test

import (
	"context"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker"
)

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

// With the table in place, no right to create one is needed. TestRights of internal/test/edges has
// the users of servers.
func TestNoRightToCreate(t *testing.T) {
	on(t, []string{"sqlite"}, tables, func(t *testing.T, s *store) {
		s.create(t)
		db := s.Reopen(t, nil, gorm.Config{})
		failing(t, db, map[string]error{"CREATE TABLE": errMade})
		assign(t, s.on(db))
	})
}
