package worker

import (
	"context"
	"errors"
	"strconv"

	"gorm.io/gorm"

	"github.com/uidring/uidring/worker/lease"
)

// Why an Insert is rolled back.
var (
	errNothingNew = errors.New("no number within the bounds is new")
	errNoCount    = errors.New("the row that counts the given numbers is missing")
	errThere      = errors.New("the number has a row")
	errIgnored    = errors.New("the database did not write a row, and returned no error")
)

// Insert implements lease.Store. Inserts of fresh numbers queue for the lock of the count's row.
func (s *Store) Insert(ctx context.Context, w lease.Write) (number int64, done bool, err error) {
	registry, err := s.mixed(ctx)
	if err != nil {
		return 0, false, err
	}
	for {
		err = s.writes(ctx, func(tx *gorm.DB) (err error) {
			if w.Fresh {
				w.Number, err = s.allot(tx, registry, w)
			} else {
				err = s.chosen(tx, registry, w)
			}
			if err != nil {
				return err
			}
			err = s.insertRow(tx, "VALUES (?, ?, ?, {now}, ?, ?, ?, {now})", w.Number, w.Token, w.Until, w.Node.Host, w.Node.Port, w.Node.Type)
			if s.dialect().Duplicate(err) {
				return errThere
			}
			return err
		})
		switch {
		case errors.Is(err, errNoCount):
			if err = s.makeCount(ctx, w.Within); err == nil {
				continue
			}
		case errors.Is(err, errThere) && w.Fresh: // an assigned number, made since allot looked
			continue
		case errors.Is(err, errThere), errors.Is(err, errNothingNew):
			return w.Number, false, nil
		case err == nil && registry != nil && !draws(w):
			err = s.recheck(ctx, registry, w)
		}
		if err == nil {
			err = s.visible(ctx, w)
		}
		return w.Number, err == nil, err
	}
}

// allot counts and returns the least number within w.Within that was never given.
func (s *Store) allot(tx *gorm.DB, registry *table, w lease.Write) (number int64, err error) {
	within, row := w.Within, counter(w.Within.From)
	raised := tx.Exec(s.query("UPDATE {table} SET reserved_until = reserved_until + 1 WHERE worker_id = ?"), row)
	if raised.Error != nil {
		return 0, raised.Error
	}
	if raised.RowsAffected == 0 {
		return 0, errNoCount
	}
	var next struct { // the least number above what each of these gave
		Own    int64 `gorm:"column:own"`
		Others int64 `gorm:"column:others"` // ranges that begin at or before within.To, and assigned numbers
		Beyond int64 `gorm:"column:beyond"` // rows, though their count is gone
	}
	err = tx.Raw(s.query(`SELECT COALESCE(MAX(CASE WHEN worker_id = ? THEN reserved_until - 1 END), 0) AS own,
		COALESCE(MAX(CASE WHEN worker_id <> ? THEN reserved_until END), 0) AS others,
		COALESCE((SELECT MAX(worker_id) + 1 FROM {table} WHERE worker_id BETWEEN ? AND ?), 0) AS beyond
		FROM {table} WHERE worker_id BETWEEN ? AND -1`), row, row, within.From, within.To, counter(within.To)).Scan(&next).Error
	if err != nil {
		return 0, err
	}
	number = max(within.From, next.Own, next.Others, next.Beyond)
	if registry != nil {
		if number, err = s.besideRegistry(tx, registry, w, number); err != nil {
			return 0, err
		}
	}
	switch {
	case number > within.To:
		return number, errNothingNew
	case number != next.Own:
		err = tx.Exec(s.query("UPDATE {table} SET reserved_until = ? WHERE worker_id = ?"), number+1, row).Error
	}
	return number, err
}

// chosen counts w.Number as given.
func (s *Store) chosen(tx *gorm.DB, registry *table, w lease.Write) error {
	if registry != nil {
		greatest, err := registry.greatest(tx)
		if err == nil {
			err = s.clear(registry, greatest, lease.Bounds{From: w.Number, To: w.Number})
		}
		if err != nil {
			return err
		}
	}
	row, next := counter(w.Within.From), w.Number+1
	raised := tx.Exec(s.query("UPDATE {table} SET reserved_until = ? WHERE worker_id = ? AND reserved_until < ?"), next, row, next)
	if raised.Error != nil || raised.RowsAffected > 0 {
		return raised.Error
	}
	var counts int64
	err := tx.Raw(s.query("SELECT COUNT(*) FROM {table} WHERE worker_id = ?"), row).Scan(&counts).Error
	if err == nil && counts == 0 {
		err = errNoCount
	}
	return err
}

// makeCount makes the row that counts the numbers given to holders with these bounds, unless
// another process does. The row has the end of the bounds as its port.
func (s *Store) makeCount(ctx context.Context, within lease.Bounds) error {
	row := counter(within.From)
	err := s.writes(ctx, func(tx *gorm.DB) error {
		return s.insertMeta(tx, row, within.From, layoutText{"-", strconv.FormatInt(within.To, 10)})
	})
	if s.dialect().Duplicate(err) {
		return nil
	}
	if err == nil && within.From < within.To {
		err = s.warnOverlap(ctx, within)
	}
	return err
}

// warnOverlap logs if the bounds have numbers of another range, as two sites may by mistake. No id
// repeats: a number has one row, and allot skips what other ranges gave.
func (s *Store) warnOverlap(ctx context.Context, within lease.Bounds) error {
	var counts []struct {
		Row   int64  `gorm:"column:counter"`
		Given int64  `gorm:"column:given"`
		Port  string `gorm:"column:port"`
	}
	log := s.log.Load()
	err := s.ask(ctx, &counts, s.query("SELECT worker_id AS counter, reserved_until AS given, port AS port FROM {table} WHERE worker_id BETWEEN ? AND -1"),
		counter(within.To))
	for _, c := range counts {
		to, unknown := strconv.ParseInt(c.Port, 10, 64)
		if unknown != nil { // of an earlier build: what it gave
			to = c.Given - 1
		}
		other := lease.Bounds{From: counter(c.Row), To: to}
		if log != nil && other.From != within.From && other.From < other.To && other.To >= within.From {
			log.WarnContext(ctx, "worker: two ranges of numbers overlap, so each takes numbers of the other; give each site a range of its own",
				"table", s.name, "range", within.String(), "other", other.String())
		}
	}
	return s.marked(err)
}

// insertMeta inserts a row below 0, which is not a number's: a count, or the layout.
func (s *Store) insertMeta(tx *gorm.DB, row, next int64, text layoutText) error {
	return s.insertRow(tx, "VALUES (?, '-', ?, 0, ?, ?, 0, {now})", row, next, text.Host, text.Port)
}

func (s *Store) insertRow(tx *gorm.DB, values string, vars ...any) error {
	result := tx.Exec(s.query("INSERT INTO {table} (worker_id, token, reserved_until, heartbeat_at, host, port, type, created) "+values), vars...)
	if result.Error == nil && result.RowsAffected != 1 { // a trigger may do that
		return errIgnored
	}
	return result.Error
}
