package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/uidring/uidring/internal/sqldb"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// # How numbers are drawn
//
// New numbers are keys of WORKER_NODE, and come from nowhere else. A Registry, in whatever language, inserts a row and
// takes its key. A Leaser takes over a free row of WORKER_LEASE; if none is free, it inserts a row of WORKER_NODE, and
// then the row of WORKER_LEASE that has its key. No number has two holders, since
//
//  1. Each key has one drawer: the server gives no two INSERTs the same key, and no start's INSERT names one.
//  2. Only its drawer makes the lease row of a key, once it knows the key, and while its row of WORKER_NODE is there. If
//     the answer is lost, or the drawer is killed in between, the key is lost: nobody takes a key that another drew.
//     So a new lease row has one maker, and all that follows is package protocol's.
//  3. A key whose row exists, in WORKER_NODE or WORKER_LEASE, is discarded, by a Leaser and a Registry: the counter
//     has gone back. The rows' INSERTs find that out, or for a Registry a look after the key was committed.
//  4. A lease row is not taken over if WORKER_NODE shows that its key was drawn by one that leases nothing, after
//     the counter went back: the UPDATE has that condition.
//  5. The record is made before the first lease. Its INSERT succeeds once, and fails if there is a lease. A start
//     reads the record before it takes a number, and again before it uses that number. So all
//     leases in use belong to one layout, and are drawn, or all are divided, though a start is stopped between two
//     statements and the record is deleted meanwhile. Who finds a lease and no record refuses to make one.
//  6. Where numbers are divided, a start looks for drawn keys after its row is there, and a Registry looks for the row
//     after it has drawn the key. So one of the two finds the other, even if the record was lost in between.
//     A Registry in another language, which does not look, has drawn before and is found, or joins a divided database,
//     which the documentation forbids.
//
// Rows tell nobody what is new, so old rows of both tables may be deleted. After the counter went back, no row shows
// that a Registry has a number, or that a deleted lease row had one: these numbers can be drawn again. So can a leased
// number by a Registry of another language, which does not look at leases. A Registry that may not read
// WORKER_LEASE looks for no lease. The record does not bind Registry.Assign, which states no layout, and makes none.
//
// numbers.pml of package lease is the model.

// drawnPort is the port in rows of WORKER_NODE whose keys Leasers drew.
const drawnPort = "WORKER_LEASE"

// maxDiscards is how many keys in a row may belong to lease rows before the counter counts as gone back.
const maxDiscards = 3

const nodeColumns = "host_name, port, type, launch_date, modified, created"

const leaseColumns = "worker_id, token, reserved_until, heartbeat_at, host, port, type, created"

// The probes write no row, and draw no key. They fail if the user lacks a right, or the server is read-only.
const (
	probeNode   = "INSERT INTO {table} (" + nodeColumns + ") SELECT " + nodeColumns + " FROM {table} WHERE 1 = 0"
	probeInsert = "INSERT INTO {table} (" + leaseColumns + ") SELECT " + leaseColumns + " FROM {table} WHERE worker_id = -1 AND 1 = 0"
	probeUpdate = "UPDATE {table} SET reserved_until = reserved_until WHERE worker_id = -1 AND 1 = 0"
)

// probe fails if the user lacks a right that a start needs after it has made the record.
func (s *Store) probe(ctx context.Context) error {
	if _, err := s.nodes.exec(ctx, probeNode); err != nil {
		return err
	}
	return s.probeLease(ctx)
}

// probeLease fails if the user could not make or renew a lease. A start that draws a key and then fails would draw another
// at every retry.
func (s *Store) probeLease(ctx context.Context) error {
	statements := []string{probeInsert, probeUpdate}
	switch s.db.Name() {
	case "mysql": // both at once
		statements = []string{probeInsert + " ON DUPLICATE KEY UPDATE reserved_until = VALUES(reserved_until)"}
	case "sqlite": // has no rights
		return nil
	}
	for _, statement := range statements {
		if _, err := s.exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// entry is a row of WORKER_NODE to insert. Column names are lower case for PostgreSQL.
type entry struct {
	ID         int64   `gorm:"column:id;primaryKey;autoIncrement"`
	HostName   string  `gorm:"column:host_name"`
	Port       string  `gorm:"column:port"`
	Type       int     `gorm:"column:type"`
	LaunchDate sqlExpr `gorm:"column:launch_date"`
	Modified   sqlExpr `gorm:"column:modified"`
	Created    sqlExpr `gorm:"column:created"`
}

// sqlExpr is a value that the database computes by its own clock, as a gorm.Valuer.
type sqlExpr string

func (e sqlExpr) GormValue(context.Context, *gorm.DB) clause.Expr { return clause.Expr{SQL: string(e)} }

// create inserts a row by one statement, which commits by itself, and returns its key. A key of 0 is the database's next.
func (t *table) create(ctx context.Context, key int64, node lease.Node) (int64, error) {
	row := entry{
		ID:         key,
		HostName:   node.Host,
		Port:       node.Port,
		Type:       int(node.Type),
		LaunchDate: "CURRENT_DATE",
		Modified:   "CURRENT_TIMESTAMP",
		Created:    "CURRENT_TIMESTAMP",
	}
	err := t.denied(ctx, sqldb.Alone(ctx, t.db, func(tx *gorm.DB) error {
		result := tx.Clauses(clause.Insert{Table: clause.Table{Name: t.full()}}).Create(&row)
		if result.Error == nil && result.RowsAffected != 1 {
			return fmt.Errorf("%w: %d rows were inserted, want 1", ErrKey, result.RowsAffected)
		}
		return result.Error
	}))
	return row.ID, err
}

// denied is marked for a statement that draws a key. The key of a BIGSERIAL column needs a right on its sequence; that of an
// identity column needs none. also are the rights that the statement needs elsewhere.
func (t *table) denied(ctx context.Context, err error, also ...string) error {
	if !t.dialect().Denied(err) {
		return t.marked(err)
	}
	grants := slices.Concat(also, t.grants())
	if t.db.Name() == "postgres" {
		var sequences []string
		const query = "SELECT pg_get_serial_sequence(?, 'id') FROM pg_attribute WHERE attrelid = to_regclass(?) AND attname = 'id' AND attidentity = ''"
		if none := t.ask(ctx, &sequences, query, t.quoted(), t.quoted()); none == nil && len(sequences) > 0 && sequences[0] != "" {
			grants = append(grants, "USAGE ON SEQUENCE "+sequences[0])
		}
	}
	return sqldb.Denied(t.db, err, grants...)
}

// draw commits a row and returns its key.
func (t *table) draw(ctx context.Context, node lease.Node, limit int64) (int64, error) {
	key, err := t.create(ctx, 0, node)
	switch {
	case err != nil:
		return 0, err
	case key <= 0:
		err = fmt.Errorf("%w: the key is %d, want 1 or more; is the table's key auto-increment?", ErrKey, key)
	case key > limit:
		err = &lease.ExhaustedError{Next: key, Max: limit, Store: t.name}
	default:
		return key, nil
	}
	t.remove(ctx, key)
	return key, err
}

// remove deletes the row of a key that cannot be a number, if the user may.
func (t *table) remove(ctx context.Context, key int64) {
	_, _ = t.exec(ctx, "DELETE FROM {table} WHERE id = ? AND id <> -1", key)
}

// wentBack says that the counter of keys gives what leases have, as key, or what WORKER_NODE has; key is then 0. Keys below
// from may not be used under the layout.
func wentBack(ctx context.Context, leases *table, key, from int64) error {
	nodes := leases.nodes
	var drawn int64
	if err := nodes.ask(ctx, &drawn, "SELECT COALESCE(MAX(id), 0) FROM {table}"); err != nil {
		return err
	}
	var is struct {
		Leased   int64 `gorm:"column:leased"`
		Greatest int64 `gorm:"column:greatest"`
	}
	err := leases.ask(ctx, &is, "SELECT COUNT(CASE WHEN worker_id = ? THEN 1 END) AS leased, COALESCE(MAX(worker_id), 0) AS greatest FROM {table}", key)
	switch {
	case err != nil && !leases.absent(ctx, err):
		return err
	case key >= max(from, 1) && is.Leased == 0: // a trigger may prevent the row
		return errIgnored
	}
	return fmt.Errorf("%w: the last %d keys of %s were drawn before, so its key counter has gone back, as after TRUNCATE, a restore or a failover; "+
		"run: uidring workers raise NUMBER, with the greatest number in use, which is %d or more", ErrKey, maxDiscards, nodes.name, max(drawn, is.Greatest, from-1))
}

// insertDrawn draws a key, and makes its lease row.
func (s *Store) insertDrawn(ctx context.Context, w leasestore.Write) (key int64, done bool, err error) {
	insert := s.insertPair
	if s.db.Name() == "postgres" {
		insert = s.insertBoth // which needs all rights
	} else if err := s.probeLease(ctx); err != nil {
		return 0, false, err
	}
	for range maxDiscards {
		key, done, err = insert(ctx, w)
		if s.dialect().Duplicate(err) { // PostgreSQL counts without looking at the rows
			key, err = 0, nil
		}
		if done || err != nil || key > w.Within.To {
			return key, done, err
		}
	}
	return 0, false, wentBack(ctx, s.table, key, w.Within.From)
}

// insertPair makes the two rows one after the other.
func (s *Store) insertPair(ctx context.Context, w leasestore.Write) (key int64, done bool, err error) {
	key, err = s.nodes.draw(ctx, drawnNode(w), w.Within.To)
	switch {
	case errors.Is(err, lease.ErrExhausted), err == nil && key < w.Within.From:
		return key, false, nil
	case err != nil:
		return 0, false, err
	}
	rows, err := s.exec(ctx, "INSERT INTO {table} ("+leaseColumns+") SELECT id, ?, ?, {now}, ?, ?, ?, {now} FROM {nodes} WHERE id = ? AND port = '"+drawnPort+"'",
		w.Token, w.Until, w.Node.Host, w.Node.Port, w.Node.Type, key)
	if !s.dialect().Duplicate(err) {
		return key, rows > 0 && err == nil, err
	}
	own, err := s.hasToken(ctx, key, w.Token) // a proxy may have sent the statement twice
	return key, own, err
}

// hasToken reports whether the row of a number has a token.
func (s *Store) hasToken(ctx context.Context, number int64, token string) (bool, error) {
	var rows int64
	err := s.ask(ctx, &rows, "SELECT COUNT(*) FROM {table} WHERE worker_id = ? AND token = ?", number, token)
	return rows > 0, err
}

func drawnNode(w leasestore.Write) lease.Node {
	return lease.Node{Host: w.Node.Host, Port: drawnPort, Type: w.Node.Type}
}

// insertBoth makes the two rows by one statement.
func (s *Store) insertBoth(ctx context.Context, w leasestore.Write) (int64, bool, error) {
	var is struct {
		Key  int64 `gorm:"column:drawn"`
		Made int64 `gorm:"column:made"`
	}
	node := drawnNode(w)
	err := s.nodes.denied(ctx, sqldb.Alone(ctx, s.db, func(tx *gorm.DB) error {
		// The text is the same for all starts, so that the driver prepares it once.
		return tx.Raw(s.query("WITH drawn AS (INSERT INTO "+s.nodes.quoted()+" ("+nodeColumns+") VALUES (?, ?, ?, CURRENT_DATE, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP) RETURNING id), "+
			"made AS (INSERT INTO {table} ("+leaseColumns+") SELECT id, ?, CAST(? AS BIGINT), {now}, ?, ?, CAST(? AS INTEGER), {now} FROM drawn WHERE id BETWEEN CAST(? AS BIGINT) AND CAST(? AS BIGINT) "+
			"ON CONFLICT (worker_id) DO NOTHING RETURNING worker_id), renewable AS ("+probeUpdate+") SELECT id AS drawn, (SELECT COUNT(*) FROM made) AS made FROM drawn"),
			node.Host, node.Port, node.Type, w.Token, w.Until, w.Node.Host, w.Node.Port, w.Node.Type, max(w.Within.From, 1), w.Within.To).Scan(&is).Error
	}), s.grants()...)
	if err == nil && is.Key <= 0 {
		err = fmt.Errorf("%w: the key in %s is %d, want 1 or more", ErrKey, s.nodes.name, is.Key)
	}
	if err == nil && is.Key > w.Within.To {
		s.nodes.remove(ctx, is.Key)
	}
	return is.Key, is.Made > 0 && err == nil, err
}

// insertRow inserts one row of WORKER_LEASE.
func (s *Store) insertRow(ctx context.Context, values string, vars ...any) error {
	rows, err := s.exec(ctx, "INSERT INTO {table} ("+leaseColumns+") "+values, vars...)
	if err == nil && rows != 1 { // a trigger may do that
		err = errIgnored
	}
	return err
}
