package worker

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// A database has one authority for new numbers, and row -1 of the Leasers' table remembers which:
// the count in that row, as long as there are only Leasers, or the key of the Registry's table, from
// the first start of a Registry on. The key never gives the authority back.
//
// No number is given twice, and none as new twice. Each of these lines is one statement, which locks
// row -1 and commits by itself, so a process that stops between two of them holds no lock:
//
//	new by count   unless the key is the authority: add 1 to the count, and make the number's row
//	new by key     (after a row of the Registry's table, whose key is the number) note the key in row -1
//	range          unless the keys in row -1 have reached it: add 1 to its count, and make the number's row
//	Assigner       unless the keys in row -1 have reached it: note the number as counted, and make its row
//	take over      make the key the authority; keep the count up to then
//
// A Registry, or a Leaser by key, notes its key and then reads the counts. It discards a key that one of
// them covers: of a range, of an Assigner, or the count up to the takeover.
//
//  1. Two numbers by the count differ, since row -1 is locked. Two keys differ.
//  2. A key below the count at the takeover is discarded, and later nothing is counted there.
//  3. A range or an Assigner comes before the note of an equal key, or after it. If before, the key is
//     discarded, since the counts are read after the note. If after, the number is refused.
//  4. A row of a number is made in the statement that decides, so a lost answer leaves nothing undecided.
//  5. None of this reads rows of numbers, so deleting them changes nothing.
//
// Only a database without the Leasers' table leaves a question open. A Registry looks for that table
// after it has committed its key, and a Leaser looks for the Registry's table when its own is there. So a
// Registry that finds no Leasers' table has made its own before any Leaser looks, and that Leaser
// makes the key the authority before it takes a number.
//
// insert.pml of package lease is the model.

// byKey is the host in row -1 if the key of the Registry's table is the authority for new numbers.
// The row's heartbeat_at is then the count at which the key took over.
const byKey = "key"

// drawnPort is the port in rows of the Registry's table whose keys Leasers drew.
const drawnPort = DefaultLeaseTable

// pair is the two tables of one database.
type pair struct{ nodes, leases *table }

func (k kind) other() kind {
	if k == nodeKind {
		return leaseKind
	}
	return nodeKind
}

// others is the name of the other kind's table that belongs to a name; "" is not known.
func (k kind) others(name string) string {
	dot := strings.LastIndexByte(name, '.') + 1
	switch name[dot:] {
	case k.table:
		return name[:dot] + k.other().table
	case strings.ToLower(k.table):
		return name[:dot] + strings.ToLower(k.other().table)
	}
	return ""
}

// other returns the table of the other kind, whether or not it is there; nil means none.
func (t *table) other() *table {
	if t.beside == "" {
		return nil
	}
	return &table{kind: t.kind.other(), db: t.db, name: t.beside}
}

// there returns the table of the other kind if the database has it, and otherwise nil.
func (t *table) there(ctx context.Context) (*table, error) {
	other := t.other()
	if other == nil {
		return nil, nil
	}
	err := other.look(ctx)
	switch {
	case err == nil:
		return other, nil
	case ctx.Err() == nil && t.dialect().Missing(err):
		return nil, nil
	case t.dialect().Denied(err):
		err = fmt.Errorf("%w; the numbers of the two tables must differ: set NoOtherTable in the config if ids from the two tables never share a column", err)
	}
	return nil, t.fail(ctx, "look for "+other.name+" beside", err)
}

// greatest is the greatest key of the Registry's table, 0 for none.
func (t *table) greatest(ctx context.Context) (key int64, err error) {
	err = t.ask(ctx, &key, "SELECT COALESCE(MAX(id), 0) FROM "+t.quoted())
	return key, err
}

// What a start writes to the Leasers' table after it has drawn a key, on no row.
const (
	noUpdate = "UPDATE {table} SET reserved_until = reserved_until WHERE worker_id = -1 AND 1 = 0"
	noInsert = "INSERT INTO {table} (worker_id, token, reserved_until, heartbeat_at, host, port, type, created) " +
		"SELECT worker_id, token, reserved_until, heartbeat_at, host, port, type, created FROM {table} WHERE worker_id = -1 AND 1 = 0"
)

// writable fails if the database refuses one of the statements, for want of a right or since it is read-only. A key that is
// drawn is used up, and a start that cannot go on would draw another at every retry.
func (t *table) writable(ctx context.Context, statements ...string) error {
	for _, statement := range statements {
		if _, err := t.exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// draw inserts a row into the Registry's table and returns its key, which nobody else has. insert is
// called again while Leasers have the key.
func (p pair) draw(ctx context.Context, insert func() (int64, error)) (int64, error) {
	for {
		key, err := insert()
		if err != nil {
			return 0, err
		}
		if ok, err := p.admit(ctx, key); ok || err != nil {
			return key, err
		}
	}
}

// admit reports whether a key that is committed may be used. The key is the authority from then on.
func (p pair) admit(ctx context.Context, key int64) (bool, error) {
	for {
		_, err := p.leases.exec(ctx, "UPDATE {table} SET reserved_until = ? WHERE worker_id = -1 AND host = '"+byKey+"' AND reserved_until <= ?", key+1, key)
		if err != nil {
			return false, err
		}
		var is struct {
			Host  string `gorm:"column:host"`  // of row -1
			Noted int64  `gorm:"column:noted"` // of row -1: the number above the greatest key that is noted
			Above int64  `gorm:"column:above"` // a count that covers the key; 0 is none
			Row   int64  `gorm:"column:found"` // 1 if a Leaser has made the row, though its count is gone
		}
		err = p.leases.ask(ctx, &is, p.leases.query(`SELECT COALESCE(MAX(CASE WHEN worker_id = -1 THEN host END), '') AS host,
			COALESCE(MAX(CASE WHEN worker_id = -1 THEN reserved_until END), 0) AS noted,
			COALESCE(MAX(CASE WHEN worker_id > -1 THEN NULL WHEN worker_id < -1 THEN reserved_until ELSE heartbeat_at END), 0) AS above,
			COALESCE(MAX(CASE WHEN worker_id = ? THEN 1 END), 0) AS found
			FROM {table} WHERE worker_id BETWEEN ? AND -1 OR worker_id = ?`), key, counter(key), key)
		switch {
		case err != nil:
			return false, err
		case is.Host != byKey:
			if err := p.takeOver(ctx); err != nil {
				return false, err
			}
		case is.Noted <= key: // the takeover came between the two statements
		case is.Above > key:
			return false, p.raise(ctx, is.Above)
		default:
			return is.Row == 0, nil
		}
	}
}

// takeOver makes the key the authority for new numbers, above all that were counted, assigned, or
// given in a range.
func (p pair) takeOver(ctx context.Context) error {
	marked, err := p.leases.exec(ctx, "UPDATE {table} SET heartbeat_at = reserved_until, host = '"+byKey+"' WHERE worker_id = -1 AND host <> '"+byKey+"'")
	if err != nil {
		return err
	}
	if marked == 0 {
		// The row is missing, or another process was faster. Without the row, rows of numbers show what was counted.
		_, err = p.leases.exec(ctx, `INSERT INTO {table} (worker_id, token, reserved_until, heartbeat_at, host, port, type, created)
			SELECT -1, '-', beyond, beyond, '`+byKey+`', '-', 0, {now} FROM (SELECT COALESCE(MAX(worker_id), -1) + 1 AS beyond FROM {table} WHERE worker_id >= 0) counted`)
		if err != nil && !p.leases.dialect().Duplicate(err) {
			return err
		}
	}
	var above int64
	err = p.leases.ask(ctx, &above, p.leases.query("SELECT COALESCE(MAX(reserved_until), 0) FROM {table} WHERE worker_id BETWEEN ? AND -1"), leaseLayout+1)
	if err == nil {
		err = p.raise(ctx, above)
	}
	return err
}

// raise makes the next key at least above. Concurrent draws of keys never lower it.
func (p pair) raise(ctx context.Context, above int64) error {
	if above <= 1 {
		return nil
	}
	nodes := p.nodes
	if nodes.db.Name() != "postgres" {
		// A row with a key of its own raises AUTO_INCREMENT and AUTOINCREMENT, unless the key has passed it.
		row := newEntry(above-1, lease.Node{Host: "-", Port: drawnPort})
		err := nodes.alone(ctx, func(tx *gorm.DB) error { return nodes.create(tx, &row) })
		if nodes.dialect().Duplicate(err) {
			err = nil
		}
		return err
	}
	var sequence sql.NullString
	err := nodes.ask(ctx, &sequence, "SELECT pg_get_serial_sequence(?, 'id')", nodes.quoted())
	if err == nil && !sequence.Valid {
		return fmt.Errorf("%w: column id of %s owns no sequence; set the sequence that its default uses to %d", ErrKey, nodes.name, above)
	}
	if err == nil { // one statement, whose lock keeps keys that other processes draw meanwhile from being lowered
		name := "'" + strings.ReplaceAll(sequence.String, "'", "''") + "'"
		_, err = nodes.exec(ctx, fmt.Sprintf("DO $raise$ BEGIN LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE; "+
			"PERFORM setval(%s, %d) WHERE COALESCE(pg_sequence_last_value(%[1]s), 0) < %[2]d; END $raise$", name, above-1))
	}
	return err
}

// clear refuses numbers that the Registry's keys have reached.
func (s *Store) clear(registry *table, greatest int64, within leasestore.Range) error {
	if greatest < within.From {
		return nil
	}
	return fmt.Errorf("%w: %s has given out numbers up to %d, and this generator takes %d to %d; use Numbers or an assigned number above %d, or neither; "+
		"or, if ids from the two tables never share a column, set NoOtherTable in the worker.StoreConfig", ErrMixed, registry.name, greatest, within.From, within.To, greatest)
}

// authority returns the Registry's table if its key is the authority for new numbers, and nil if the
// count is. Once it is the key, it stays so.
func (s *Store) authority(ctx context.Context) (*table, error) {
	if s.keyed.Load() {
		return s.other(), nil
	}
	var host string
	err := s.ask(ctx, &host, s.query("SELECT COALESCE(MAX(host), '') FROM {table} WHERE worker_id = -1"))
	if err != nil {
		return nil, err
	}
	return s.known(host)
}

// known is authority for the host in row -1.
func (s *Store) known(host string) (*table, error) {
	if host != byKey {
		return nil, nil
	}
	registry := s.other()
	if registry == nil {
		return nil, fmt.Errorf("%w: new numbers of %s are keys of a Registry's table, because a Registry has started in the same database; "+
			"set RegistryTable to that table in the worker.StoreConfig, without NoOtherTable", ErrMixed, s.name)
	}
	s.keyed.Store(true)
	return registry, nil
}

// meet makes the key the authority if the Registry's table is there: another language's Registry, or one of
// an earlier version, does not do so itself.
func (s *Store) meet(ctx context.Context) error {
	registry, err := s.there(ctx)
	if registry == nil || err != nil {
		return err
	}
	if keyed, err := s.authority(ctx); keyed != nil || err != nil {
		return err
	}
	return pair{registry, &s.table}.takeOver(ctx)
}

// next returns the number to show as new: the key that a draw is expected to return.
func (s *Store) next(ctx context.Context, registry *table, view leasestore.View, within leasestore.Range, full bool) (int64, error) {
	greatest, err := registry.greatest(ctx)
	if err != nil {
		return 0, err
	}
	if within.From > 0 {
		return view.Next, s.clear(registry, greatest, within)
	}
	next := max(view.Next, greatest+1)
	if full && len(view.Free) == 0 && next > within.To && greatest >= within.To {
		return 0, fmt.Errorf("%w; %s has used the numbers up to %d. To use them again, stop every process that takes numbers from %[2]s and %[4]s, "+
			"wait until the clock is past their last id, and rename both tables",
			&lease.ExhaustedError{Next: next, Max: within.To, Held: view.Held, Store: s.name}, registry.name, greatest, s.name)
	}
	return next, nil
}

// admits refuses to take over a number that a Registry has given as well, one that asked no Leaser.
func (s *Store) admits(ctx context.Context, registry *table, w leasestore.Write) error {
	var rows int64
	err := s.ask(ctx, &rows, "SELECT COUNT(*) FROM "+registry.quoted()+" WHERE id = ? AND port <> '"+drawnPort+"'", w.Number)
	if err == nil && rows > 0 {
		err = fmt.Errorf("%w: %s has given out number %d; assign another number, or, if ids from the two tables never share a column, set NoOtherTable in the worker.StoreConfig",
			ErrMixed, registry.name, w.Number)
	}
	return err
}

// gone says what a missing table of the Registry means, from which the new numbers come.
func gone(registry *table, err error) error {
	if err == nil || !registry.dialect().Missing(err) {
		return err
	}
	return fmt.Errorf("%w: new numbers are keys of %s, which is gone; restore it, or, once all generators that use it or the "+
		"Leasers' table have stopped and the times they reserved have passed, rename the Leasers' table too: %w", ErrMixed, registry.name, err)
}

// drawn draws a key as the new number of a Leaser.
func (s *Store) drawn(ctx context.Context, registry *table, w leasestore.Write) (number int64, err error) {
	greatest, err := registry.greatest(ctx)
	switch {
	case err != nil:
		return 0, gone(registry, err)
	case greatest >= w.Within.To: // draw no key in vain
		return greatest + 1, errNothingNew
	}
	number, err = s.drawKey(ctx, registry, w.Node)
	if err == nil && number > w.Within.To {
		err = errNothingNew
	}
	return number, err
}

func (s *Store) drawKey(ctx context.Context, registry *table, node leasestore.Node) (int64, error) {
	if err := s.writable(ctx, noUpdate, noInsert); err != nil {
		return 0, err
	}
	return pair{registry, &s.table}.draw(ctx, func() (int64, error) {
		row := newEntry(0, lease.Node{Host: node.Host, Port: drawnPort, Type: lease.NodeType(node.Type)})
		err := registry.alone(ctx, func(tx *gorm.DB) error { return registry.create(tx, &row) })
		if err == nil && row.ID <= 0 {
			err = fmt.Errorf("%w: the key in %s is %d, want 1 or more; is the table's key auto-increment?", ErrKey, registry.name, row.ID)
		}
		return row.ID, err
	})
}
