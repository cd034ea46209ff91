package worker_test

import (
	"context"
	"strings"
	"testing"

	"gorm.io/gorm"
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
		s.Exec(t, "GRANT INSERT ON %s TO %s", s.Table, role)

		db := s.Open(t, s.With("role="+role+"&search_path="+role+",public"))
		number, err := take(t, context.Background(), s.on(db), max22)
		if number != 0 || err == nil || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("%d, %v; want that permission is denied", number, err)
		}
		if err := s.DB.Exec("SELECT 1 FROM " + role + "." + s.Table).Error; err == nil {
			t.Error("a second table was created")
		}
	})
}

// With the table in place, no right to create one is needed.
func TestNoRightToCreate(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		s.create(t)
		user := strings.ToLower(s.Table)
		rights := "SELECT, INSERT"
		if s.name == "leaser" {
			rights += ", UPDATE"
		}
		url := s.URL
		switch s.Kind {
		case "sqlite":
			db := s.Reopen(t, nil, gorm.Config{})
			failing(t, db, map[string]error{"CREATE TABLE": errMade})
			assign(t, s.on(db))
			return
		case "mysql":
			if err := s.DB.Exec("CREATE USER " + user).Error; err != nil {
				t.Skip("cannot create a user: ", err)
			}
			defer s.Exec(t, "DROP USER %s", user)
			s.Exec(t, "GRANT %s ON %s TO %s", rights, s.Table, user)
			url = user + "@" + url[strings.LastIndex(url, "@")+1:]
		case "postgres":
			if err := s.DB.Exec("CREATE ROLE " + user).Error; err != nil {
				t.Skip("cannot create a role: ", err)
			}
			defer s.Exec(t, "DROP ROLE %s", user)
			s.Exec(t, "GRANT %s ON %s TO %s", rights, s.Table, user)
			defer s.Exec(t, "DROP OWNED BY %s", user)
			url = s.With("role=" + user)
		}
		db := s.Open(t, url)
		if err := db.Exec("CREATE TABLE " + s.Table + "_2 (id INT)").Error; err == nil {
			s.Exec(t, "DROP TABLE %s_2", s.Table)
			t.Skip("the user may create tables after all")
		}
		assign(t, s.on(db))
	})
}
