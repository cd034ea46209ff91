//go:build linux

package sqldb_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/sqldb"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
)

// A server is named that is too old. A view in front of PostgreSQL's, and an option of MariaDB's, state
// the version.
func TestWarnsOfVersion(t *testing.T) {
	need.CI(t)
	check := func(t *testing.T, s *dbtest.Store, version string, warned bool) {
		t.Helper()
		var out logged.Text
		need.Must(t, sqldb.WarnFlush(t.Context(), s.DB, out.Logger(), "test", s.Table))
		if (out.Count("too old", "want MySQL 8.0", "version="+version+"\n") == 1) != warned || (out.Count("level=WARN") > 0) != warned {
			t.Errorf("%s: logged %s, want a warning: %t", version, &out, warned)
		}
	}
	s := dbtest.New(t, "postgres")
	s.Exec(t, "CREATE SCHEMA %s", s.Table)
	defer s.Exec(t, "DROP SCHEMA %s CASCADE", s.Table)
	behind := *s
	behind.DB = s.Open(t, s.With("search_path="+strings.ToLower(s.Table)+",pg_catalog"))
	for version, warned := range map[string]bool{"9.6.24": true, "12.22": true, "13.0": false, "20.1": false} {
		s.Exec(t, "CREATE OR REPLACE VIEW %s.pg_settings AS SELECT name, CASE name WHEN 'server_version' THEN '%s' ELSE setting END AS setting FROM pg_catalog.pg_settings", s.Table, version)
		check(t, &behind, version, warned)
	}
	if out, err := exec.CommandContext(t.Context(), servertest.Find(t, "mariadbd"), "--version").Output(); err != nil || !strings.Contains(string(out), "MariaDB") {
		return // MySQL states its own version
	}
	database := servertest.MariaDB(t, t.TempDir())
	for version, warned := range map[string]bool{"5.7.44": true, "8.0.0": false, "10.4.34-MariaDB": true, "10.5.0-MariaDB": false} {
		t.Run(version, func(t *testing.T) {
			server := database.With("--version="+version).Start(t, dbtest.Answers)
			check(t, dbtest.At(t, "mysql", server.URL(server.Address)), version, warned)
		})
	}
}
