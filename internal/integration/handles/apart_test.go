//go:build linux

package handles_test

import (
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
)

// apart is a state in which a session could draw from another table than others do.
type apart struct {
	name    string
	empty   bool   // no session has made the table yet
	session string // statements of a session; {t} is the table, {r} a role that may do everything in the schema public
	prefix  string // of the table's name in the config
	want    string // in the error; empty if the session draws from the table of all
}

var aparts = map[string][]apart{
	"mysql": {
		{name: "temporary", session: "CREATE TABLE {t}_made LIKE {t}; CREATE TEMPORARY TABLE {t} LIKE {t}_made", want: "it is a temporary table"},
		{name: "view of a user", session: "RENAME TABLE {t} TO {t}_all; CREATE VIEW {t} AS SELECT * FROM {t}_all WHERE CURRENT_USER() <> ''", want: "it is a view"},
		{name: "view", session: "RENAME TABLE {t} TO {t}_all; CREATE VIEW {t} AS SELECT * FROM {t}_all"},
		{name: "partitions", session: "ALTER TABLE {t} PARTITION BY KEY (biz_tag) PARTITIONS 2"},
	},
	"postgres": {
		{name: "temporary", session: "CREATE TEMPORARY TABLE {t} (LIKE {t} INCLUDING ALL)", want: "it is a temporary table in pg_temp_"},
		{name: "temporary to be", empty: true, session: "CREATE SCHEMA app; SET ROLE {r}; SET search_path = app, pg_temp", want: "it would become a temporary table in pg_temp_"},
		{name: "named temporary", empty: true, session: "SELECT 1", prefix: "pg_temp.", want: "it would become a temporary table"},
		{name: "two schemas", session: "CREATE SCHEMA app; CREATE TABLE app.{t} (LIKE public.{t} INCLUDING ALL); SET search_path = app, public", want: "in the schemas app, public"},
		{name: "schema of a role", session: `CREATE SCHEMA {r}; CREATE TABLE {r}.{t} (LIKE public.{t}); SET search_path = "$user", public; SET ROLE {r}`, want: "there are several"},
		{name: "hidden schema", session: "CREATE SCHEMA app; CREATE TABLE app.{t} (LIKE public.{t}); SET search_path = app, public; SET ROLE {r}", want: "in the schemas app, public"},
		{name: "named schema", session: "CREATE SCHEMA app; CREATE TABLE app.{t} (LIKE public.{t}); SET search_path = app, public", prefix: "public."},
		{name: "row security", session: "ALTER TABLE {t} ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON {t} USING (CURRENT_USER <> ''); SET ROLE {r}", want: "row security"},
		{name: "restrictive", session: "ALTER TABLE {t} ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON {t} USING (true); " +
			"CREATE POLICY q ON {t} AS RESTRICTIVE USING (CURRENT_USER <> ''); SET ROLE {r}", want: "row security"},
		{name: "all rows to read", session: "ALTER TABLE {t} ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON {t} FOR SELECT USING (true); SET ROLE {r}", want: "row security"},
		{name: "all rows", session: "ALTER TABLE {t} ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON {t} USING (true); SET ROLE {r}"},
		{name: "view of a user", session: "ALTER TABLE {t} RENAME TO {t}_all; CREATE VIEW {t} AS SELECT * FROM {t}_all WHERE CURRENT_USER <> ''", want: "it is a view"},
		{name: "view", session: "ALTER TABLE {t} RENAME TO {t}_all; CREATE VIEW {t} AS SELECT * FROM {t}_all"},
		{name: "rule", session: "CREATE RULE r AS ON UPDATE TO {t} DO INSTEAD NOTHING", want: "it has the rule r"},
		{name: "inherited", session: "CREATE TABLE {t}_more () INHERITS ({t})", want: "tables inherit from it"},
		{name: "partitions", session: "ALTER TABLE {t} RENAME TO {t}_rest; CREATE TABLE {t} (LIKE {t}_rest INCLUDING DEFAULTS, PRIMARY KEY (biz_tag)) PARTITION BY LIST (biz_tag); " +
			"ALTER TABLE {t} ATTACH PARTITION {t}_rest DEFAULT"},
	},
	"sqlite": {
		{name: "temporary", session: "CREATE TEMPORARY TABLE {t} AS SELECT * FROM {t}", want: "it is a temporary table"},
		{name: "in memory", session: "ATTACH ':memory:' AS mem; CREATE TABLE mem.{t} AS SELECT * FROM main.{t}", prefix: "mem.", want: "its database is in memory"},
		{name: "attached", session: "ATTACH '' AS other; CREATE TABLE other.{t} AS SELECT * FROM main.{t}; DROP TABLE main.{t}", want: "it is in the attached database other"},
		{name: "temporary view", session: "CREATE TEMPORARY VIEW {t} AS SELECT * FROM main.{t}", want: "it is a temporary table"},
	},
}

// A session that would draw from another table than others, or see other rows of it, is refused by all that draw, with the
// search path where there is one.
func TestTablesApart(t *testing.T) {
	for _, kind := range dbtest.Kinds {
		for i, a := range aparts[kind] {
			t.Run(kind+"/"+a.name, func(t *testing.T) {
				server := dbtest.New(t, kind)
				role := "uidring_" + strings.ToLower(rand.Text()[:12])
				if strings.Contains(a.session, "{r}") {
					server.Exec(t, "CREATE ROLE %s", role)
					t.Cleanup(func() { server.Exec(t, "DROP ROLE %s", role) }) // after its database
				}
				for j, c := range clients[:2] {
					if i < 2 || j == 1 { // all look in the same way
						t.Run(c.table, func(t *testing.T) { a.check(t, server, role, c) })
					}
				}
			})
		}
	}
}

func (a apart) check(t *testing.T, server *dbtest.Store, role string, c client) {
	database := create(t, server)
	table := c.table
	if server.Kind == "postgres" {
		table = strings.ToLower(table)
	}
	if !a.empty {
		_, err := c.draw(t, database.open(t, cell{}), table)
		need.Must(t, err)
	}
	db := database.open(t, cell{})
	pool, err := db.DB()
	need.Must(t, err)
	pool.SetMaxOpenConns(1)
	if strings.Contains(a.session, "{r}") {
		for _, of := range []string{"SCHEMA public", "ALL TABLES IN SCHEMA public", "ALL SEQUENCES IN SCHEMA public"} {
			need.Must(t, db.Exec("GRANT ALL ON "+of+" TO "+role).Error)
		}
	}
	for statement := range strings.SplitSeq(strings.NewReplacer("{t}", table, "{r}", role).Replace(a.session), "; ") {
		if err := db.Exec(statement).Error; err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	got, err := c.draw(t, db, a.prefix+table)
	switch {
	case a.want == "":
		need.Must(t, err)
	case !errors.Is(err, c.fails) || !strings.Contains(err.Error(), a.want) || server.Kind == "postgres" && !strings.Contains(err.Error(), "search_path is "):
		t.Errorf("got %d, %v; want that it is refused: %s", got, err, a.want)
	}
}
