package worker

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/sqldb"
)

// readSession reads the settings of MySQL's sessions that matter. It refuses a session in which a statement does not
// commit by itself, and warns if each key uses up several numbers.
func (t *table) readSession(ctx context.Context, log *slog.Logger) error {
	if t.db.Name() != "mysql" {
		return nil
	}
	var settings []struct {
		Name  string `gorm:"column:Variable_name"`
		Value string `gorm:"column:Value"`
	}
	err := t.alone(ctx, func(tx *gorm.DB) error {
		return tx.Raw("SHOW VARIABLES WHERE variable_name IN ('autocommit', 'completion_type', 'transaction_isolation', 'tx_isolation', 'auto_increment_increment')").Scan(&settings).Error
	})
	if err != nil {
		return err
	}
	for _, s := range settings {
		switch s.Name {
		case "autocommit", "completion_type":
			if s.Value == "OFF" || s.Value == "CHAIN" {
				return fmt.Errorf("%w: what its sessions write could be rolled back: %s is %s; want a DSN without %[2]s, and no SET %[2]s in init_connect", ErrDB, s.Name, s.Value)
			}
		case "auto_increment_increment":
			if step, err := strconv.Atoi(s.Value); err == nil && step > 1 {
				log.WarnContext(ctx, "worker: each new number uses up several, because of the server's auto_increment_increment", "table", t.name, "step", step)
			}
		default: // MariaDB and MySQL have two names for it
			t.dirty.Store(strings.HasPrefix(s.Value, "READ-UNCOMMITTED"))
		}
	}
	return nil
}

// reads runs f, whose queries see committed rows only, whatever the session's level of isolation. Each query
// runs in a separate transaction. A process that is stopped between two queries therefore holds no lock, and no ALTER TABLE
// waits for it with everyone else behind.
func (t *table) reads(ctx context.Context, f func(tx *gorm.DB) error) error {
	if !t.dirty.Load() {
		return t.noTable(t.alone(ctx, f))
	}
	pool, err := t.db.DB()
	if err != nil { // connections of the app's own making
		return t.noTable(t.marked(sqldb.Transaction(ctx, t.db, f, &sql.TxOptions{Isolation: sql.LevelReadCommitted})))
	}
	return t.noTable(t.marked(sqldb.Fresh(func() error {
		conn, err := pool.Conn(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		tx := sqldb.Session(ctx, t.db)
		tx.Statement.ConnPool = committed{conn}
		return f(tx)
	})))
}

// committed is a connection whose next transaction, which is one query, reads what is committed.
type committed struct{ *sql.Conn }

func (c committed) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if _, err := c.ExecContext(ctx, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"); err != nil {
		return nil, err
	}
	return c.Conn.QueryContext(ctx, query, args...)
}
