package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/uidring/uidring/worker/lease"
)

// Raise makes every new number of the database be above number. Call it after the database lost the last
// numbers that it gave out, as after a restore, with the greatest number that was in use since. It never
// lowers anything, so it is safe to repeat, and beside generators that start and run. Where numbers are drawn,
// it moves the key counter of WORKER_NODE; where they are divided, the ranges that contain number continue above it.
// The user needs the privileges of a service and, on PostgreSQL, USAGE on the sequence of WORKER_NODE's key.
func (s *Store) Raise(ctx context.Context, number int64) error {
	if err := s.Check(); err != nil {
		return err
	}
	if number < 1 {
		return fmt.Errorf("worker: raise %s: number is %d, want the greatest number in use, from 1", s.nodes.name, number)
	}
	err := s.raise(ctx, number)
	if err != nil {
		err = s.fail(ctx, fmt.Sprintf("raise the counter to %d of", number), err)
	}
	return err
}

// Counted implements leasestore.Counter, with the keys of WORKER_NODE. Where numbers are divided, it returns -1. The user
// needs the privileges of a service and, on PostgreSQL, SELECT on the sequence of WORKER_NODE's key.
func (s leaseRows) Counted(ctx context.Context) (int64, error) {
	if err := s.nodes.look(ctx); err != nil {
		return 0, s.nodes.noTable(err)
	}
	r, err := s.nodes.record(ctx)
	if err != nil || r == nil || r.divided() {
		return -1, err
	}
	next, err := s.nodes.counter(ctx)
	if err != nil {
		return 0, s.nodes.fail(ctx, "read the key counter of", s.nodes.marked(err))
	}
	var drawn int64
	err = s.nodes.ask(ctx, &drawn, "SELECT COALESCE(MAX(id), 0) FROM {table}")
	return max(next-1, drawn), err
}

func (s *Store) raise(ctx context.Context, number int64) error {
	if err := errors.Join(s.nodes.look(ctx), s.beside(ctx)); err != nil {
		return s.nodes.noTable(err)
	}
	r, err := s.nodes.record(ctx)
	if err != nil {
		return err
	}
	divided := r != nil && r.divided()
	if r == nil {
		if _, divided, err = s.leased(ctx); err != nil {
			return err
		}
	}
	if divided {
		return s.raiseCount(ctx, number)
	}
	return s.nodes.raise(ctx, number)
}

// raiseCount counts number as a range of one: ranges that include number continue above it.
func (s *Store) raiseCount(ctx context.Context, number int64) error {
	err := s.insertRow(ctx, "VALUES (?, '-', ?, 0, '-', '-', 0, {now})", counter(number), number+1)
	if s.dialect().Duplicate(err) {
		_, err = s.exec(ctx, "UPDATE {table} SET reserved_until = ? WHERE worker_id = ? AND reserved_until < ?", number+1, counter(number), number+1)
	}
	return err
}

// raise moves the key counter beyond number by drawing keys or by naming one, and never by setting it, which could lower it.
func (t *table) raise(ctx context.Context, number int64) error {
	if t.db.Name() != "postgres" {
		_, err := t.create(ctx, number, lease.Node{Host: "-", Port: "raised"})
		if t.dialect().Duplicate(err) { // a row with the key was there, so the counter is beyond
			err = nil
		}
		return err
	}
	var sequences []string
	err := t.ask(ctx, &sequences, "SELECT pg_get_serial_sequence(?, 'id')", t.quoted())
	if err == nil && (len(sequences) == 0 || sequences[0] == "") {
		err = fmt.Errorf("%w: column id of %s owns no sequence; call nextval on the one that its default uses until it returns more than %d", ErrKey, t.name, number)
	}
	if err == nil {
		_, err = t.execWith(ctx, []string{"USAGE ON SEQUENCE " + sequences[0]}, fmt.Sprintf("DO $raise$ BEGIN WHILE nextval('%s') < %d LOOP END LOOP; END $raise$", strings.ReplaceAll(sequences[0], "'", "''"), number))
	}
	return err
}
