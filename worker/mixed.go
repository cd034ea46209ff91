package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"github.com/uidring/uidring/worker/lease"
)

// This file is what "From a Registry to a Leaser" in the package comment says.

// drawnPort is the port in rows of the Registry's table whose keys Leasers drew.
const drawnPort = DefaultLeaseTable

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

// mixed returns the table of the other kind, or nil if there is none.
func (t *table) mixed(ctx context.Context) (*table, error) {
	if t.beside == "" {
		return nil, nil
	}
	other := &table{kind: t.kind.other(), db: t.db, name: t.beside}
	err := other.look(ctx)
	if err == nil {
		return other, nil
	}
	if ctx.Err() == nil && t.dialect().Missing(err) {
		return nil, nil
	}
	return nil, t.fail(ctx, "look at "+other.name+" beside", fmt.Errorf("%w (Beside in the config names another table; Alone says that there is none)", err))
}

// greatest is the greatest key of the Registry's table, 0 for none.
func (t *table) greatest(tx *gorm.DB) (key int64, err error) {
	err = tx.Raw("SELECT COALESCE(MAX(id), 0) FROM " + t.quoted()).Scan(&key).Error
	return key, err
}

// next returns the number to show as new: the key that a draw is expected to return.
func (s *Store) next(tx *gorm.DB, registry *table, view lease.View, within lease.Bounds, full bool) (int64, error) {
	greatest, err := registry.greatest(tx)
	if err != nil {
		return 0, err
	}
	if within.From > 0 {
		return view.Next, s.clear(registry, greatest, within)
	}
	next := max(view.Next, greatest+1)
	if full && len(view.Free) == 0 && next > within.To && greatest >= within.To {
		return 0, fmt.Errorf("%w; %s has used the numbers up to %d. To use them again, stop every process that takes numbers from %[2]s, "+
			"wait until the clock is past their last id, and rename %[2]s",
			&lease.ExhaustedError{Next: next, Max: within.To, Held: view.Held, Store: s.name}, registry.name, greatest)
	}
	return next, nil
}

// clear refuses a range that the Registry's keys have reached.
func (s *Store) clear(registry *table, greatest int64, within lease.Bounds) error {
	if greatest < within.From {
		return nil
	}
	return fmt.Errorf("%w: %s has given numbers up to %d, and this start takes %d to %d; want a range or number above %d, or neither; "+
		"or, if the ids of the two never meet, Alone in the worker.StoreConfig", ErrMixed, registry.name, greatest, within.From, within.To, greatest)
}

// draws reports whether a new number is a key of the Registry's table: of no range or Assigner.
func draws(w lease.Write) bool { return w.Fresh && w.Within.From == 0 }

// besideRegistry returns the fresh number of w, at least number. Unless the number belongs to
// a range, it is a key that is drawn from the Registry's table, so that no Registry gives it.
func (s *Store) besideRegistry(tx *gorm.DB, registry *table, w lease.Write, number int64) (int64, error) {
	greatest, err := registry.greatest(tx)
	switch {
	case err != nil:
		return 0, err
	case !draws(w):
		return number, s.clear(registry, greatest, lease.Bounds{From: number, To: number})
	case max(number, greatest+1) > w.Within.To: // draw no key in vain
		return max(number, greatest+1), nil
	}
	key := int64(0)
	for key < max(number, 1) { // the Registry's table may be younger than this one
		row := newEntry(0, lease.Node{Host: w.Node.Host, Port: drawnPort, Type: w.Node.Type})
		if err := registry.create(tx, &row); err != nil {
			return 0, err
		}
		if row.ID <= key {
			return 0, fmt.Errorf("%w: the key in %s is %d, want more than %d; is the table's key auto-increment?", ErrKey, registry.name, row.ID, key)
		}
		key = row.ID
	}
	return key, nil
}

// admits refuses a number that the Registry has given, before a holder gets it.
func (s *Store) admits(tx *gorm.DB, registry *table, w lease.Write) error {
	var rows int64
	err := tx.Raw("SELECT COUNT(*) FROM "+registry.quoted()+" WHERE id = ? AND port <> ?", w.Number, drawnPort).Scan(&rows).Error
	if err == nil && rows > 0 {
		err = fmt.Errorf("%w: %s has given number %d; want a number that it has not given, or, if the ids of the two never meet, Alone in the worker.StoreConfig",
			ErrMixed, registry.name, w.Number)
	}
	return err
}

// recheck is called when the row of a number that was not drawn is committed. If a Registry
// has committed the same number, recheck makes the row free again and refuses the number.
func (s *Store) recheck(ctx context.Context, registry *table, w lease.Write) error {
	err := s.reads(ctx, func(tx *gorm.DB) error { return s.admits(tx, registry, w) })
	if err == nil {
		return nil
	}
	release := lease.Write{Number: w.Number, Token: rand.Text(), Until: w.Until, Change: lease.Release}
	_, failed := s.Swap(ctx, w.Token, release)
	return errors.Join(err, failed)
}

// leased reports whether Leasers of the same database have a number, or have a range with it.
func (r *Registry) leased(ctx context.Context, number int64) (bool, error) {
	leases, err := r.mixed(ctx)
	if leases == nil || err != nil {
		return false, err
	}
	var rows int64
	err = r.ask(ctx, &rows, "SELECT COUNT(*) FROM "+leases.quoted()+" WHERE worker_id = ? OR "+
		"worker_id BETWEEN ? AND -2 AND reserved_until > ?", number, counter(number), number)
	return rows > 0, err
}
