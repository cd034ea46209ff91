package segmentsql

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/sqldb"
	"github.com/uidring/uidring/uid/segment"
)

const sequenceStep = 1000

// Store is a [segment.Store] in a table. Make one with [NewLeafAlloc] or [NewSequence]. It opens
// no connections itself and is safe for concurrent use.
type Store struct {
	db *gorm.DB
	layout
	logger *slog.Logger

	looked   atomic.Bool                // the table is there, and no other counts the same; written and read by look
	file     atomic.Pointer[sqldb.File] // nil is none; written and read by watch
	flushing atomic.Bool                // whether commits reach the disk was asked; written and read by Reserve
	rollback atomic.Bool                // the table's engine rolls back; written and read by nextGapless
	narrow   atomic.Bool                // a warning about the counter's column was logged; written and read by read
	readable sync.Map                   // tags with other letters than ASCII's that the server reads as they are; written and read by legible
	aliases  sync.Map                   // tags about whose row a warning was logged; written and read by read
}

type layout struct {
	table   string
	tag     string // column of the primary key
	next    string // column of the least id that is not reserved
	step    string // column of the row's own step; empty if there is none
	updated string // column of the time of the last write; empty if there is none
}

// Config configures a [Store]. Zero fields take their default values.
type Config struct {
	// Table is the name of the table, which may be qualified, as in "ids.leaf_alloc". Empty means
	// leaf_alloc for NewLeafAlloc, and SEQUENCE for NewSequence. If sessions could see different
	// tables by the name, all calls fail with [segment.ErrUnusable]: another table's name differs
	// only in case, the table is temporary, several schemas of the search path have one, or row
	// security or a view shows each user other rows.
	Table string

	// Logger receives warnings about a database that can lose commits, a column that is narrower
	// than BIGINT, and a collation that treats two tags as equal. Nil means [slog.Default].
	Logger *slog.Logger
}

// NewLeafAlloc returns a Store for Leaf's table leaf_alloc in db. The column max_id is the counter,
// and step is the row's own step. The Store never writes to the column description (or desc).
//
// The Store uses only the connections that db was opened with, and runs no hooks. If there are
// replicas, those connections must be to the primary.
func NewLeafAlloc(db *gorm.DB, config Config) *Store {
	return newStore(db, layout{"leaf_alloc", "biz_tag", "max_id", "step", "update_time"}, config)
}

// NewSequence returns a Store for the table SEQUENCE(table_name, next_id) in db. Its rows have no
// step, so the first range has 1,000 ids unless segment.Config.Step is set. See [NewLeafAlloc] for which
// connections are used.
func NewSequence(db *gorm.DB, config Config) *Store {
	return newStore(db, layout{"SEQUENCE", "table_name", "next_id", "", ""}, config)
}

func newStore(db *gorm.DB, l layout, config Config) *Store {
	l.table = cmp.Or(config.Table, l.table)
	if db != nil && db.Config != nil && db.Statement != nil {
		db = db.Session(&gorm.Session{}) // a copy, so that later changes of db have no effect
	}
	return &Store{db: db, layout: l, logger: cmp.Or(config.Logger, slog.Default())}
}

// String returns the kind of database and the name of the table.
func (s *Store) String() string {
	if s.db == nil || s.db.Config == nil || s.db.Dialector == nil {
		return "table " + s.table
	}
	return s.db.Name() + " table " + s.table
}

// Grants returns the privileges that a running service's database user needs, each as the text
// between GRANT and TO.
func (s *Store) Grants() []string { return []string{"SELECT, UPDATE ON TABLE " + s.table} }

// CreateGrants returns the additional privileges that the user needs to create counters, and the
// table if it is missing. On PostgreSQL, they include CREATE on the schema in the table's name,
// or on public if the name has no schema.
func (s *Store) CreateGrants() []string {
	return append([]string{s.inserting()}, sqldb.CreateGrants(s.db, s.table, "")...)
}

func (s *Store) inserting() string { return "INSERT ON TABLE " + s.table }

// Reserve implements [segment.Store].
func (s *Store) Reserve(ctx context.Context, tag string, n int64) (first, count int64, err error) {
	if n < 0 {
		return 0, 0, fmt.Errorf("segmentsql: reserve %d ids, want 0 (for the row's step) or more", n)
	}
	if count = n; n == 0 {
		err = s.retry(ctx, func(tx *gorm.DB) error {
			row, err := s.read(tx, tag, "")
			if count = row.Step; err == nil {
				err = s.refuse(row, count, false)
			}
			return err
		})
	}
	if err == nil {
		err = s.retry(ctx, func(tx *gorm.DB) (err error) { first, err = s.take(tx, tag, count, false); return err })
	}
	if err == nil && s.flushing.CompareAndSwap(false, true) {
		if sqldb.WarnFlush(ctx, s.db, s.logger, "segmentsql", s.table) != nil {
			s.flushing.Store(false) // the next range looks again
		}
	}
	return first, count, err
}

// Return implements [segment.Returner].
func (s *Store) Return(ctx context.Context, tag string, first, next int64) (done bool, err error) {
	err = s.once(ctx, func(tx *gorm.DB) (err error) {
		done, err = s.swap(tx, tag, next, first)
		return err
	})
	return done && err == nil, err
}

// Raise implements [segment.Raiser].
func (s *Store) Raise(ctx context.Context, tag string, next int64) (now int64, err error) {
	err = s.retry(ctx, func(tx *gorm.DB) (err error) { now, err = s.raise(tx, tag, next); return err })
	return now, err
}

// RaiseAbove raises the counter of tag above the greatest key in a column of a table in the same
// database, and returns the counter. It never lowers the counter. It quotes names as GORM does.
// [docs/migrating.md] explains when to call it.
//
// [docs/migrating.md]: https://github.com/uidring/uidring/blob/main/docs/migrating.md
func (s *Store) RaiseAbove(ctx context.Context, tag, table, column string) (int64, error) {
	var greatest struct {
		Key int64 `gorm:"column:greatest"`
	}
	err := s.once(ctx, func(tx *gorm.DB) error {
		quote := s.db.Statement.Quote
		err := tx.Raw("SELECT COALESCE(MAX(" + quote(column) + "), 0) AS greatest FROM " + quote(table)).Scan(&greatest).Error
		return sqldb.Denied(s.db, err, "SELECT ON TABLE "+table)
	})
	if err == nil && greatest.Key == math.MaxInt64 {
		err = fmt.Errorf("%w: the greatest key is %d", segment.ErrUsedUp, greatest.Key)
	}
	if err != nil {
		return 0, fmt.Errorf("segmentsql: greatest %s of %s: %w", column, table, err)
	}
	return s.Raise(ctx, tag, greatest.Key+1)
}

// List implements [segment.Lister].
func (s *Store) List(ctx context.Context) ([]segment.CounterInfo, error) {
	var counters []segment.CounterInfo
	err := s.once(ctx, func(tx *gorm.DB) error {
		var rows []struct {
			Tag     string  `gorm:"column:tag"`
			Next    int64   `gorm:"column:counter"`
			Step    int64   `gorm:"column:own_step"`
			Updated float64 `gorm:"column:updated"` // seconds since 1970; 0 is not known
		}
		updated := "0"
		if s.updated != "" {
			updated = fmt.Sprintf(s.dialect().Seconds, s.updated)
		}
		err := tx.Raw("SELECT " + s.columns() + ", " + updated + " AS updated FROM " + s.quoted() + " ORDER BY " + s.tag).Scan(&rows).Error
		if s.dialect().Missing(err) {
			return fmt.Errorf("%w: there is no %s; create it with uidring segments create TAG: %w", segment.ErrUnknownTag, s, err)
		}
		for _, r := range rows {
			c := segment.CounterInfo{Tag: r.Tag, Next: r.Next, Step: r.Step}
			if r.Updated != 0 {
				c.Updated = time.Unix(int64(r.Updated), 0)
			}
			counters = append(counters, c)
		}
		return err
	})
	return counters, err
}
