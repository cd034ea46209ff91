package stores

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/uidring/uidring/cmd/uidring/database"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentredis"
	"github.com/uidring/uidring/uid/segment/segmentsql"
)

// Sequence is the table SEQUENCE(table_name, next_id). Any other name of a table means
// Leaf's leaf_alloc.
const Sequence = "sequence"

// Counters is an open store of counters. It is safe for concurrent use.
type Counters struct {
	Store segment.Store
	Name  string // for messages: without password and options
	place database.Place
	close func() error
}

// OpenCounters connects to an SQL database or Redis. table is for SQL databases only.
// With create, OpenCounters makes a missing SQLite file.
func OpenCounters(ctx context.Context, dsn, origin, table string, create bool, logger *slog.Logger) (*Counters, error) {
	place := At(dsn, origin)
	if database.KindOf(dsn) == database.Redis {
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
	kind := segmentsql.LeafAlloc
	if table == Sequence {
		kind = segmentsql.Sequence
	}
	return &Counters{kind(db.DB, segmentsql.WithLogger(logger)), db.Name, place, db.Close}, nil
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
		return nil, place.Fault(s.name, err)
	}
	store := segmentredis.New(client, segmentredis.WithPrefix(cmp.Or(s.prefix, segmentredis.DefaultPrefix)), segmentredis.WithLogger(logger))
	return &Counters{store, s.name, place, client.Close}, nil
}

// Wrap returns err with the name of the store. It returns nil for nil.
func (c *Counters) Wrap(err error) error { return c.place.Fault(c.Name, err) }

// Close closes the connection. Close generators first.
func (c *Counters) Close() error { return c.Wrap(c.close()) }
