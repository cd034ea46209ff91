package worker

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/uidring/uidring/worker/lease/leasestore"
)

// # How numbers are divided
//
// A range counts its numbers in a row of WORKER_LEASE below 0. One statement counts a number and makes its row, so a
// lost answer leaves nothing undecided. It locks the row of the range that begins at 0, so that ranges count one after
// the other. It takes a number above the counts of all ranges that begin no later than its own ends. Rows of numbers are
// not read, so deleting them changes nothing. An Assigner's number is a range of one, whose row is made whether or not
// the number was counted before: a number whose row was deleted is there for an Assigner.

// Insert implements leasestore.Store.
func (s leaseRows) Insert(ctx context.Context, w leasestore.Write) (number int64, done bool, err error) {
	if err := s.replaced(ctx); err != nil {
		return 0, false, err
	}
	for unmade := 0; ; {
		if w.Fresh && !w.Chosen {
			number, done, err = s.insertDrawn(ctx, w)
		} else {
			number, done, err = s.insertCounted(ctx, w)
		}
		if err == nil && done {
			err = s.seen(ctx, number, w.Token)
		}
		if errors.Is(err, errUnmade) {
			if unmade++; unmade == maxUnmade {
				return 0, false, errIgnored
			}
			err = errAgain
		}
		if !errors.Is(err, errAgain) {
			return number, done && err == nil, err
		}
	}
}

var (
	// errAgain says that what a statement needs was made, or that another process was faster.
	errAgain = errors.New("another try is needed")

	// errUnmade says that no row was inserted, and that no row shows why. Other processes may have raised the
	// count meanwhile, but hardly maxUnmade times in a row.
	errUnmade = errors.New("no row was inserted")

	// errTaken says that the row may have been made, and has another's token by now.
	errTaken = errors.New("another process took over the row, or it existed already")

	// errIgnored is why a write counts as not done.
	errIgnored = errors.New("the database did not write a row, and returned no error")
)

const maxUnmade = 16

const findTries = 5

// insertCounted counts a number of w.Within, and makes its row.
func (s *Store) insertCounted(ctx context.Context, w leasestore.Write) (int64, bool, error) {
	wrote, err := s.count(ctx, w)
	if err != nil {
		return 0, false, err
	}
	if wrote == 0 {
		return s.uncounted(ctx, w)
	}
	var is struct {
		Number   int64  `gorm:"column:number"`   // whose row was made; -1 is none
		Covering int64  `gorm:"column:covering"` // counts of other ranges that have the number
		Port     string `gorm:"column:port"`     // of the count
	}
	row, wants := counter(w.Within.From), w.Within
	if !w.Fresh {
		wants = leasestore.Range{From: w.Number, To: w.Number}
	}
	find := `SELECT COALESCE(MAX(made.number), -1) AS number, COUNT(other.worker_id) AS covering,
		(SELECT port FROM {table} WHERE worker_id = ?) AS port
		FROM (SELECT worker_id AS number FROM {table} WHERE worker_id BETWEEN ? AND ? AND token = ? ORDER BY worker_id DESC LIMIT 1) made
		LEFT JOIN {table} other ON other.worker_id BETWEEN -1 - made.number AND -1 AND other.worker_id <> ? AND other.reserved_until > made.number`
	for range findTries { // a number whose row is not found is lost until the row expires
		if err = s.ask(ctx, &is, find, row, wants.From, wants.To, w.Token, row); !s.dialect().Transient(err) {
			break
		}
	}
	switch {
	case err != nil:
		return 0, false, err
	case is.Number < 0 && s.dialect().made(wrote):
		return 0, false, leasestore.Transient(errTaken)
	case is.Number < 0 && w.Fresh: // the number has a row, though it was not counted
		return 0, false, s.recount(ctx, w.Within)
	case is.Number < 0:
		return w.Number, false, nil
	case w.Fresh && is.Covering > 0: // another range with the number began meanwhile: nobody may have it
		_, err = s.exec(ctx, "UPDATE {table} SET heartbeat_at = 0, reserved_until = ? WHERE worker_id = ? AND token = ?", maxInstant, is.Number, w.Token)
		if err == nil {
			err = errAgain
		}
		return 0, false, err
	case w.Fresh && w.Within.From < w.Within.To && is.Port != strconv.FormatInt(w.Within.To, 10):
		_ = s.warnOverlap(ctx, w.Within) // the number is made; after an error, a later start warns
	}
	return is.Number, err == nil, err
}

// maxInstant is later than any time that a generator stamps, in milliseconds since 1970.
const maxInstant = 1 << 60

// count is the statement that counts a number and makes its row. It writes nothing if a count is missing, or if
// nothing of the range is new. Where the number has a row, it only counts.
func (s *Store) count(ctx context.Context, w leasestore.Write) (wrote int64, err error) {
	number := strconv.FormatInt(w.Number, 10)
	if w.Fresh {
		// Of other ranges, those that begin at or before w.Within.To. The condition names gate, so that the row
		// is locked before this is read.
		number = s.dialect().greatest + "(own.reserved_until, COALESCE((SELECT MAX(reserved_until) FROM {table} other " +
			"WHERE other.worker_id BETWEEN " + strconv.FormatInt(counter(w.Within.To), 10) + " AND gate.worker_id), 0))"
	}
	numbers := strings.NewReplacer("{row}", strconv.FormatInt(counter(w.Within.From), 10), "{number}", number, "{to}", strconv.FormatInt(w.Within.To, 10),
		"{until}", strconv.FormatInt(w.Until, 10), "{type}", strconv.Itoa(int(w.Node.Type)), "{lock}", s.dialect().lock,
		"{greatest}", s.dialect().greatest, "{counts}", s.dialect().counts)
	return s.exec(ctx, numbers.Replace(`INSERT INTO {table} (`+leaseColumns+`)
		SELECT CASE half WHEN 1 THEN number ELSE {row} END, ?, CASE half WHEN 1 THEN {until} ELSE {greatest}(counted, number + 1) END,
			{now}, ?, ?, {type}, {now}
		FROM (SELECT {number} AS number, own.reserved_until AS counted FROM {table} gate, {table} own
			WHERE gate.worker_id = -1 AND own.worker_id = {row}{lock}) allotted, (SELECT 1 AS half UNION ALL SELECT 2) halves
		WHERE number <= {to} {counts}`), w.Token, w.Node.Host, w.Node.Port)
}

// uncounted finds out why count wrote nothing, and mends what can be mended.
func (s *Store) uncounted(ctx context.Context, w leasestore.Write) (number int64, done bool, err error) {
	var is struct {
		Rows int64 `gorm:"column:found"` // the count, and that of the range that begins at 0
		Own  int64 `gorm:"column:own"`   // the row of the number
		Next int64 `gorm:"column:next"`  // the number above what was counted
	}
	row := counter(w.Within.From)
	err = s.ask(ctx, &is, `SELECT COUNT(CASE WHEN worker_id IN (-1, ?) THEN 1 END) AS found, COUNT(CASE WHEN worker_id = ? THEN 1 END) AS own,
		COALESCE(MAX(CASE WHEN worker_id < 0 THEN reserved_until END), 0) AS next FROM {table} WHERE worker_id BETWEEN ? AND -1 OR worker_id = ?`,
		row, w.Number, min(row, counter(w.Within.To)), w.Number)
	switch {
	case err != nil:
		return 0, false, err
	case is.Rows < 1 || is.Rows < 2 && row != -1:
		return 0, false, s.makeCounts(ctx, w.Within)
	case w.Fresh && is.Next > w.Within.To:
		return is.Next, false, nil
	case !w.Fresh && is.Own > 0: // MySQL reports changed rows only: the number may have a row, and have been counted before
		return w.Number, false, nil
	}
	return 0, false, errAgain
}

// beyond is the number above the rows within a range, which show what was given if their count is gone.
const beyond = "COALESCE((SELECT MAX(worker_id) + 1 FROM {table} WHERE worker_id BETWEEN ? AND ?), 0)"

// makeCounts makes the row that counts the numbers of a range, and that of the range that begins at 0, unless another
// process does. The row has the end of the range as its port.
func (s *Store) makeCounts(ctx context.Context, within leasestore.Range) error {
	err := s.makeCount(ctx, within)
	if err == nil && within.From > 0 {
		err = s.makeCount(ctx, leasestore.Range{})
	}
	if err == nil {
		err = errAgain
	}
	return err
}

func (s *Store) makeCount(ctx context.Context, within leasestore.Range) error {
	from := strconv.FormatInt(within.From, 10)
	err := s.insertRow(ctx, "SELECT ?, '-', "+s.dialect().greatest+"("+from+", "+beyond+"), 0, '-', '-', 0, {now}",
		counter(within.From), within.From, within.To)
	if s.dialect().Duplicate(err) {
		return nil
	}
	return err
}

// recount raises the count above all rows of its range.
func (s *Store) recount(ctx context.Context, within leasestore.Range) error {
	var next int64
	err := s.ask(ctx, &next, "SELECT "+beyond+" AS next", within.From, within.To)
	if err != nil {
		return err
	}
	raised, err := s.exec(ctx, "UPDATE {table} SET reserved_until = ? WHERE worker_id = ? AND reserved_until < ?", next, counter(within.From), next)
	switch {
	case err != nil:
		return err
	case raised == 0:
		return errUnmade
	}
	return errAgain
}

// warnOverlap logs if the range overlaps another, as when two sites are configured alike by mistake. It
// runs when the range counts for the first time, and stores the end of the range. No id repeats: a
// number has one row, and count skips what other ranges gave.
func (s *Store) warnOverlap(ctx context.Context, within leasestore.Range) error {
	var counts []struct {
		Row   int64  `gorm:"column:counter"`
		Given int64  `gorm:"column:given"`
		Port  string `gorm:"column:port"`
	}
	err := s.ask(ctx, &counts, "SELECT worker_id AS counter, reserved_until AS given, port AS port FROM {table} WHERE worker_id BETWEEN ? AND -1",
		counter(within.To))
	if err != nil {
		return err
	}
	log := s.log.Load()
	for _, c := range counts {
		to, unknown := strconv.ParseInt(c.Port, 10, 64)
		if unknown != nil { // an Assigner's: what it gave
			to = c.Given - 1
		}
		other := leasestore.Range{From: counter(c.Row), To: to}
		if log != nil && other.From != within.From && other.From < other.To && other.To >= within.From {
			log.WarnContext(ctx, "worker: two ranges of numbers overlap, so each can take numbers from the other; give each site its own range",
				"table", s.name, "range", within.String(), "other", other.String())
		}
	}
	_, err = s.exec(ctx, "UPDATE {table} SET port = ? WHERE worker_id = ?", strconv.FormatInt(within.To, 10), counter(within.From))
	return err
}
