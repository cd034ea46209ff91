package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
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

// onStores are segments, each beside a statement for each id.
var onStores = []impl{
	{Subject: bench.Subject{Name: "Segment.Next on PostgreSQL", Open: segmentOnPostgres}, There: postgresThere,
		Package: "uidring `segment.Generator` on PostgreSQL, `Next`", Kind: ours, Cap: segmentCap, GivesUp: segmentLess, Setup: onPostgres},
	{Subject: bench.Subject{Name: "PostgreSQL", Open: statements}, There: postgresThere,
		Package: "a statement an id: `UPDATE … RETURNING` on PostgreSQL", Kind: handmade, Cap: "the server's commits", GivesUp: storeLess, Setup: onPostgres},
	{Subject: bench.Subject{Name: "Segment.Next on Redis", Open: segmentOnRedis}, There: redisThere,
		Package: "uidring `segment.Generator` on Redis, `Next`", Kind: ours, Cap: segmentCap, GivesUp: segmentLess, Setup: onRedis},
	{Subject: bench.Subject{Name: "Redis", Open: commands}, There: redisThere,
		Package: "a command an id: `INCR` on Redis", Kind: handmade, Cap: "the server's one thread", GivesUp: storeLess + "; ids may repeat after a crash", Setup: onRedis},
}

// postgresVariable names a PostgreSQL by its URL.
const postgresVariable = "UIDRING_TEST_POSTGRES"

func postgresThere() bool { return os.Getenv(postgresVariable) != "" }

func redisThere() bool {
	_, err := exec.LookPath("redis-server")
	return err == nil
}

// openSchema makes a schema of its own with a counter in a PostgreSQL, since several instances
// may be open at once, and returns the URL whose tables lie there. end drops the schema.
func openSchema() (at string, end func() error, err error) {
	u, err := url.Parse(os.Getenv(postgresVariable))
	if err != nil || u.Host == "" { // err can show a part of the password
		return "", nil, fmt.Errorf("%s is no URL, want one such as postgres://postgres@127.0.0.1:5432/test", postgresVariable)
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, u.String())
	if err != nil {
		return "", nil, err
	}
	schema := fmt.Sprintf("uidring_bench_%d_%d", os.Getpid(), time.Now().UnixNano())
	end = func() error {
		_, err := conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+schema+" CASCADE")
		return errors.Join(err, conn.Close(ctx))
	}
	create := strings.ReplaceAll(`CREATE SCHEMA here; CREATE TABLE here.counter (name text PRIMARY KEY, next_id bigint NOT NULL);
		INSERT INTO here.counter VALUES ('orders', 1)`, "here", schema)
	if _, err := conn.Exec(ctx, create); err != nil {
		return "", nil, errors.Join(err, end())
	}
	query := u.Query()
	query.Set("search_path", schema)
	u.RawQuery = query.Encode()
	return u.String(), end, nil
}

func segmentOnPostgres() (*bench.Instance, error) {
	dsn, end, err := openSchema()
	if err != nil {
		return nil, err
	}
	db, err := gorm.Open(postgres.Open(dsn), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		return nil, errors.Join(err, end())
	}
	return segmentOn(segmentsql.Sequence(db, segmentsql.Config{}), func() error {
		pool, err := db.DB()
		if err == nil {
			err = pool.Close()
		}
		return errors.Join(err, end())
	})
}

// nextID is the statement for an id.
const nextID = "UPDATE counter SET next_id = next_id + 1 WHERE name = 'orders' RETURNING next_id"

func statements() (*bench.Instance, error) {
	dsn, end, err := openSchema()
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, dsn)
	return ending(end)(&bench.Instance{
		Loop: func(n int) (uint64, error) {
			return bench.Repeat(n, func() (id uint64, err error) { err = pool.QueryRow(ctx, nextID).Scan(&id); return id, err })
		},
		Close: func() error { pool.Close(); return nil },
	}, err)
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
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := errors.Join(patient.Ping(ctx).Err(), patient.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("redis-server does not answer: %w", err), p.stop())
	}
	return p, nil
}
