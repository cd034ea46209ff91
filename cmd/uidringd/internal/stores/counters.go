package stores

import (
	"context"
	"log/slog"

	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentredis"
	"github.com/uidring/uidring/uid/segment/segmentsql"
)

// The tables of counters in SQL databases: Leaf's, and SEQUENCE(table_name, next_id).
const (
	LeafAlloc = "leaf_alloc"
	Sequence  = "sequence"
)

// Counters is an open store of counters. It is safe for concurrent use.
type Counters struct {
	Store listed
	Name  string // for messages: without password and options
	place database.Place
	db    *database.DB // nil for Redis
	table string       // and a column of it
	next  string
	close func() error
}

type listed interface {
	segment.Store
	segment.Lister
}

// OpenCounters connects to an SQL database or Redis. table is for SQL databases only.
// With create, OpenCounters makes a missing SQLite file.
func OpenCounters(ctx context.Context, place database.Place, table string, create bool, logger *slog.Logger) (*Counters, error) {
	if database.KindOf(place.DSN) == database.Redis {
		return redisCounters(ctx, place, logger)
	}
	open := place.OpenExisting
	if create {
		open = place.Open
	}
	db, err := open(ctx)
	if err != nil {
		return nil, err
	}
	c := &Counters{Name: db.Name, place: place, db: db, close: db.Close}
	if table == Sequence {
		c.Store, c.table, c.next = segmentsql.Sequence(db.DB, segmentsql.Config{Logger: logger}), "SEQUENCE", "next_id"
	} else {
		c.Store, c.table, c.next = segmentsql.LeafAlloc(db.DB, segmentsql.Config{Logger: logger}), "leaf_alloc", "max_id"
	}
	return c, nil
}

func redisCounters(ctx context.Context, place database.Place, logger *slog.Logger) (*Counters, error) {
	s, err := readRedis(place.DSN)
	if err != nil {
		return nil, place.Fault("redis", err)
	}
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	client, err := s.connect(limited)
	if err != nil {
		return nil, place.Fault(s.name(), err)
	}
	store := segmentredis.New(client, segmentredis.Config{Prefix: s.prefix, Logger: logger})
	return &Counters{Store: store, Name: s.name(), place: place, close: client.Close}, nil
}

// MayCreate returns why the table of the counters cannot be created. It creates none.
func (c *Counters) MayCreate(ctx context.Context) error {
	if c.db == nil {
		return nil
	}
	return c.db.MayCreate(ctx)
}

// MayWrite returns why no counter can be moved. It moves none.
func (c *Counters) MayWrite(ctx context.Context) error {
	if c.db == nil {
		return nil
	}
	return c.Wrap(c.db.WithContext(ctx).Exec("UPDATE " + c.table + " SET " + c.next + " = " + c.next + " WHERE 1 = 0").Error)
}

// Wrap returns err with the name of the store. It returns nil for nil.
func (c *Counters) Wrap(err error) error { return c.place.Fault(c.Name, err) }

// Close closes the connection. Close generators first.
func (c *Counters) Close() error { return c.Wrap(c.close()) }
