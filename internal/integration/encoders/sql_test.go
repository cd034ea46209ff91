package encoders

import (
	"database/sql"
	"database/sql/driver"
	"path/filepath"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/lib/pq"
	_ "modernc.org/sqlite"

	_ "github.com/go-sql-driver/mysql"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

var sqlites = []string{"sqlite"} // the drivers of SQLite

// textID is written as text, as the comment of uid.ID says.
type textID struct{ uid.ID }

func (id textID) Value() (driver.Value, error) { return id.String(), nil }

// Each driver writes an id into columns of integers and of text, and reads it back. Into
// a text of PostgreSQL, pgx writes a string alone.
func TestSQL(t *testing.T) {
	dsns := map[string]func(t *testing.T) string{
		"mysql":    func(t *testing.T) string { return need.Variable(t, "UIDRING_TEST_MYSQL") },
		"pgx":      func(t *testing.T) string { return need.Variable(t, "UIDRING_TEST_POSTGRES") },
		"postgres": func(t *testing.T) string { return need.Variable(t, "UIDRING_TEST_POSTGRES") },
	}
	for _, name := range sqlites {
		dsns[name] = func(t *testing.T) string { return filepath.Join(t.TempDir(), "ids.db") }
	}
	for name, dsn := range dsns {
		t.Run(name, func(t *testing.T) {
			db, err := sql.Open(name, dsn(t))
			need.Must(t, err)
			defer db.Close()
			db.SetMaxOpenConns(1) // which a temporary table belongs to
			mark := "?"
			if name == "pgx" || name == "postgres" {
				mark = "$1"
			}
			for table, column := range map[string]string{"bigints": "BIGINT", "varchars": "VARCHAR(20)", "texts": "TEXT"} {
				_, err := db.ExecContext(t.Context(), "CREATE TEMPORARY TABLE "+table+" (id "+column+")")
				need.Must(t, err)
				for _, id := range ids {
					_, err := db.ExecContext(t.Context(), "INSERT INTO "+table+" VALUES ("+mark+")", id)
					if refused := name == "pgx" && column != "BIGINT"; refused != (err != nil) {
						t.Errorf("%s: %v, refused is %t", column, err, refused)
					}
					if err != nil {
						_, err = db.ExecContext(t.Context(), "INSERT INTO "+table+" VALUES ("+mark+")", textID{id})
						need.Must(t, err)
					}
					var read uid.ID
					query, arg := "SELECT id FROM "+table+" WHERE id = "+mark, any(id)
					if column != "BIGINT" {
						arg = id.String()
					}
					if err := db.QueryRowContext(t.Context(), query, arg).Scan(&read); read != id || err != nil {
						t.Errorf("%s: %d, %v; want %d", column, read, err, id)
					}
				}
			}
		})
	}
}
