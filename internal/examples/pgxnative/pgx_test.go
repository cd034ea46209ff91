// Package pgxnative is an example of ids with pgx's own interface, without
// database/sql. A uid.ID is a parameter and a scan target of a BIGINT, in both of
// PostgreSQL's formats. Arrays of ids need one line for each connection, since the
// modes exec and simple protocol do not ask the server for types:
//
//	conn.TypeMap().RegisterDefaultPgType([]uid.ID(nil), "_int8")
//
// With a pool, this line goes into pgxpool.Config.AfterConnect. The worker number is leased on
// the app's own pool: a GORM handle opened on the pool is all that the leaser needs.
package pgxnative_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidtest"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// connect opens the database that UIDRING_TEST_POSTGRES names, with a table that
// goes with the connection.
func connect(t *testing.T, mode pgx.QueryExecMode) (context.Context, *pgx.Conn) {
	t.Helper()
	url := need.Variable(t, "UIDRING_TEST_POSTGRES")
	config, err := pgx.ParseConfig(url)
	need.Must(t, err)
	config.DefaultQueryExecMode = mode
	ctx := context.Background()
	conn, err := pgx.ConnectConfig(ctx, config)
	need.Must(t, err)
	t.Cleanup(func() { conn.Close(ctx) })
	conn.TypeMap().RegisterDefaultPgType([]uid.ID(nil), "_int8")
	if _, err := conn.Exec(ctx, "CREATE TEMPORARY TABLE orders (id BIGINT PRIMARY KEY, parent BIGINT, buyer TEXT)"); err != nil {
		t.Fatal(err)
	}
	return ctx, conn
}

// order is a row of the table.
type order struct {
	ID     uid.ID
	Parent *uid.ID // may be NULL
	Buyer  string
}

// modes are all that pgx has. Those with prepared or described statements send
// BIGINT in binary, the others as text.
var modes = []pgx.QueryExecMode{
	pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
	pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
}

// TestModes writes and reads ids in each mode. A negative id is refused before it is sent.
func TestModes(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			ctx, conn := connect(t, mode)
			ids := make([]uid.ID, 3)
			if _, err := uidtest.NewSequence(t, 1000).NextN(ids); err != nil {
				t.Fatal(err)
			}
			wants := []order{{ids[0], nil, "ann"}, {ids[1], &ids[0], "ben"}, {ids[2], &ids[1], "cem"}}
			for _, o := range wants {
				if _, err := conn.Exec(ctx, "INSERT INTO orders (id, parent, buyer) VALUES ($1, $2, $3)", o.ID, o.Parent, o.Buyer); err != nil {
					t.Fatal(err)
				}
			}

			rows, err := conn.Query(ctx, "SELECT id, parent, buyer FROM orders WHERE id >= $1 ORDER BY id", ids[0])
			need.Must(t, err)
			got, err := pgx.CollectRows(rows, pgx.RowToStructByName[order])
			need.Must(t, err)
			if !reflect.DeepEqual(got, wants) {
				t.Errorf("read %v, want %v", got, wants)
			}
			_, err = conn.Exec(ctx, "INSERT INTO orders (id) VALUES ($1)", uid.ID(-1))
			if err == nil || !strings.Contains(err.Error(), "-1, want 0 or more") {
				t.Errorf("inserting -1: %v", err)
			}
		})
	}
}

// TestLeased leases a number on the app's pool, and gives it back.
func TestLeased(t *testing.T) {
	pool, err := pgxpool.New(t.Context(), need.Variable(t, "UIDRING_TEST_POSTGRES"))
	need.Must(t, err)
	defer pool.Close()
	handle, err := gorm.Open(postgres.New(postgres.Config{Conn: stdlib.OpenDBFromPool(pool)}), &gorm.Config{})
	need.Must(t, err)
	prefix := fmt.Sprintf("leased_%d_", os.Getpid())
	defer handle.Exec(fmt.Sprintf("DROP TABLE %sworker_node, %[1]sworker_lease", prefix))
	store := worker.NewStore(handle, worker.StoreConfig{Prefix: prefix}) // worker.NewLeaser has no prefix
	gen, err := uid.NewCached(t.Context(), lease.New(store, lease.Config{}), uid.CachedConfig{})
	need.Must(t, err)
	id, err := gen.Next()
	if parts, _ := gen.Parse(id); err != nil || parts.Worker != gen.Worker() {
		t.Errorf("an id of worker %d, %v, want worker %d", parts.Worker, err, gen.Worker())
	}
	if err := gen.Close(); err != nil {
		t.Error(err)
	}
}

// TestFormats reads the same column in text and in binary.
func TestFormats(t *testing.T) {
	ctx, conn := connect(t, pgx.QueryExecModeCacheStatement)
	const want = uid.ID(960121041164754944)
	for name, format := range map[string]int16{"text": pgx.TextFormatCode, "binary": pgx.BinaryFormatCode} {
		var id uid.ID
		err := conn.QueryRow(ctx, "SELECT $1::BIGINT", pgx.QueryResultFormats{format}, want).Scan(&id)
		if id != want || err != nil {
			t.Errorf("%s: read %d, %v, want %d", name, id, err, want)
		}
		err = conn.QueryRow(ctx, "SELECT -1::BIGINT", pgx.QueryResultFormats{format}).Scan(&id)
		if !errors.Is(err, uid.ErrSyntax) {
			t.Errorf("%s: -1 read as %d, error %v, want %v", name, id, err, uid.ErrSyntax)
		}
		err = conn.QueryRow(ctx, "SELECT NULL::BIGINT", pgx.QueryResultFormats{format}).Scan(&id)
		if !errors.Is(err, uid.ErrSyntax) {
			t.Errorf("%s: NULL read as %d, error %v, want %v", name, id, err, uid.ErrSyntax)
		}
	}
}

// TestMany: ids as an array, and as the rows of a COPY, which is binary always.
func TestMany(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			ctx, conn := connect(t, mode)
			ids := []uid.ID{11, 12, 13}
			n, err := conn.CopyFrom(ctx, pgx.Identifier{"orders"}, []string{"id", "buyer"},
				pgx.CopyFromSlice(len(ids), func(i int) ([]any, error) { return []any{ids[i], "ann"}, nil }))
			if n != 3 || err != nil {
				t.Fatalf("CopyFrom = %d, %v", n, err)
			}
			rows, err := conn.Query(ctx, "SELECT id FROM orders WHERE id = ANY($1) ORDER BY id", ids[1:])
			need.Must(t, err)
			got, err := pgx.CollectRows(rows, pgx.RowTo[uid.ID])
			if !slices.Equal(got, ids[1:]) || err != nil {
				t.Errorf("read %v, %v, want %v", got, err, ids[1:])
			}
			var all []uid.ID
			err = conn.QueryRow(ctx, "SELECT array_agg(id ORDER BY id) FROM orders").Scan(&all)
			if !slices.Equal(all, ids) || err != nil {
				t.Errorf("read the array %v, %v, want %v", all, err, ids)
			}
		})
	}
}
