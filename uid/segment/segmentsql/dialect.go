package segmentsql

import "github.com/uidring/uidring/internal/sqldb"

// dialect is what differs between kinds of database.
type dialect struct {
	sqldb.Kind
	lock    string // after a SELECT: no other transaction changes the row until this one ends
	updated string // the type of a column that says when its row was written
	engine  string // after a table's columns
	widen   string // makes the column %[2]s of the table %[1]s a BIGINT
}

var dialects = map[string]dialect{
	"mysql": {
		lock:    " FOR UPDATE",
		updated: "TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP",
		engine:  " ENGINE = InnoDB",
		widen:   "ALTER TABLE %s MODIFY %s BIGINT NOT NULL DEFAULT 1",
	},
	"postgres": {
		lock:    " FOR UPDATE",
		updated: "TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT CURRENT_TIMESTAMP",
		widen:   "ALTER TABLE %s ALTER COLUMN %s TYPE BIGINT",
	},
	"sqlite": {
		updated: "TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP",
	},
}

func (s *Store) dialect() dialect {
	d := dialects[s.db.Name()]
	d.Kind = sqldb.KindOf(s.db.Name())
	return d
}
