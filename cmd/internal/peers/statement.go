package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/uidring/uidring/cmd/internal/bench"
	"github.com/uidring/uidring/uid/segment/segmentredis"
	"github.com/uidring/uidring/uid/segment/segmentsql"
)

const (
	storeLess  = "speed, and ids while the store is unavailable"
	onPostgres = "on this machine, with its own settings"
	onRedis    = "on this machine, without persistence"
)

// Rows of stores: a segment, and a statement for each id.
var (
	segmentPostgres = impl{Subject: bench.Subject{Name: "Segment.Next on PostgreSQL", Open: segmentOnPostgres}, There: postgresThere,
		Package: "uidring `segment.Generator` on PostgreSQL, `Next`", Kind: ours, Cap: segmentCap, GivesUp: segmentLess, Setup: onPostgres}
	statementPostgres = impl{Subject: bench.Subject{Name: "PostgreSQL", Open: statements}, There: postgresThere,
		Package: "a statement an id: `UPDATE … RETURNING` on PostgreSQL", Kind: handmade, Cap: "the server's commits", GivesUp: storeLess, Setup: onPostgres}
	segmentRedis = impl{Subject: bench.Subject{Name: "Segment.Next on Redis", Open: segmentOnRedis}, There: redisThere,
		Package: "uidring `segment.Generator` on Redis, `Next`", Kind: ours, Cap: segmentCap, GivesUp: segmentLess, Setup: onRedis}
	commandRedis = impl{Subject: bench.Subject{Name: "Redis", Open: commands}, There: redisThere,
		Package: "a command an id: `INCR` on Redis", Kind: handmade, Cap: "the server's one thread", GivesUp: storeLess + "; ids may repeat after a crash", Setup: onRedis}
)

// postgresDSN is the DSN of a PostgreSQL, or empty.
func postgresDSN() string { return os.Getenv("UIDRING_TEST_POSTGRES") }

func postgresThere() bool { return postgresDSN() != "" }

func redisThere() bool {
	_, err := exec.LookPath("redis-server")
	return err == nil
}

// openPostgres makes a table of its own: several instances may be open at once. end
// drops it.
func openPostgres(dsn string) (store *segmentsql.Store, table string, end func() error, err error) {
	db, err := gorm.Open(postgres.Open(dsn), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		return nil, "", nil, err
	}
	table = fmt.Sprintf("uidring_bench_%d_%d", os.Getpid(), time.Now().UnixNano())
	end = func() error {
		err := db.Exec("DROP TABLE IF EXISTS " + table).Error
		pool, err2 := db.DB()
		if err2 == nil {
			err2 = pool.Close()
		}
		return errors.Join(err, err2)
	}
	store = segmentsql.Sequence(db, segmentsql.Config{Table: table})
	if err := store.Create(context.Background(), "orders", 1, 1); err != nil {
		return nil, "", nil, errors.Join(err, end())
	}
	return store, table, end, nil
}

func segmentOnPostgres() (*bench.Instance, error) {
	store, _, end, err := openPostgres(postgresDSN())
	if err != nil {
		return nil, err
	}
	return segmentOn(store, end)
}

func statements() (*bench.Instance, error) {
	_, table, end, err := openPostgres(postgresDSN())
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, postgresDSN())
	if err != nil {
		return nil, errors.Join(err, end())
	}
	next := "UPDATE " + table + " SET next_id = next_id + 1 WHERE table_name = 'orders' RETURNING next_id"
	return ending(end)(&bench.Instance{
		Loop: func(n int) (uint64, error) {
			return bench.Repeat(n, func() (id uint64, err error) { err = pool.QueryRow(ctx, next).Scan(&id); return id, err })
		},
		Close: func() error { pool.Close(); return nil },
	}, nil)
}

func segmentOnRedis() (*bench.Instance, error) {
	client, end, err := openRedis()
	if err != nil {
		return nil, err
	}
	return segmentOn(segmentredis.New(client, segmentredis.Config{Logger: silent}), end)
}

func commands() (*bench.Instance, error) {
	client, end, err := openRedis()
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	return &bench.Instance{Close: end, Loop: func(n int) (uint64, error) {
		return bench.Repeat(n, func() (uint64, error) { id, err := client.Incr(ctx, "orders").Result(); return uint64(id), err })
	}}, nil
}

// ending makes an instance's Close call end too.
func ending(end func() error) func(*bench.Instance, error) (*bench.Instance, error) {
	return func(in *bench.Instance, err error) (*bench.Instance, error) {
		if err != nil {
			return nil, errors.Join(err, end())
		}
		closing := in.Close
		in.Close = func() error { return errors.Join(closing(), end()) }
		return in, nil
	}
}

func openRedis() (client *redis.Client, end func() error, err error) {
	server, err := startRedis()
	if err != nil {
		return nil, nil, err
	}
	client = redis.NewClient(&redis.Options{Addr: server.redis})
	return client, func() error { return errors.Join(client.Close(), server.stop()) }, nil
}

// startRedis starts a Redis without persistence. The command before it may move it to a
// processor.
func startRedis(before ...string) (*process, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(address)
	command := append(slices.Clone(before), "redis-server", "--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no")
	p := &process{cmd: exec.Command(command[0], command[1:]...), redis: address}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	patient := redis.NewClient(&redis.Options{Addr: address, MaxRetries: 1000, MinRetryBackoff: 10 * time.Millisecond, MaxRetryBackoff: 10 * time.Millisecond})
	if err := errors.Join(patient.Ping(context.Background()).Err(), patient.Close()); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}
