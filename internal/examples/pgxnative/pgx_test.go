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
	"fmt"
	"os"
	"reflect"
	"slices"
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

// TestModes writes ids in each mode and reads them, also in arrays and as the rows of a COPY, which is always binary. A
// negative id is neither sent nor read, and reading NULL into an id fails.
func TestModes(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			ctx := t.Context()
			config, err := pgx.ParseConfig(need.Variable(t, "UIDRING_TEST_POSTGRES"))
			need.Must(t, err)
			config.DefaultQueryExecMode = mode
			conn, err := pgx.ConnectConfig(ctx, config)
			need.Must(t, err)
			defer conn.Close(ctx)
			conn.TypeMap().RegisterDefaultPgType([]uid.ID(nil), "_int8")
			_, err = conn.Exec(ctx, "CREATE TEMPORARY TABLE orders (id BIGINT PRIMARY KEY, parent BIGINT, buyer TEXT)")
			need.Must(t, err)
			ids := make([]uid.ID, 3)
			_, err = uidtest.NewSequence(t, 960121041164754944).NextN(ids)
			need.Must(t, err)
			wants := []order{{ids[0], nil, "ann"}, {ids[1], &ids[0], "ben"}, {ids[2], &ids[1], "cem"}}
			_, err = conn.Exec(ctx, "INSERT INTO orders (id, parent, buyer) VALUES ($1, $2, $3)", ids[0], wants[0].Parent, "ann")
			need.Must(t, err)
			n, err := conn.CopyFrom(ctx, pgx.Identifier{"orders"}, []string{"id", "parent", "buyer"},
				pgx.CopyFromSlice(2, func(i int) ([]any, error) { return []any{ids[i+1], wants[i+1].Parent, wants[i+1].Buyer}, nil }))
			if n != 2 || err != nil {
				t.Fatalf("CopyFrom = %d, %v", n, err)
			}

			rows, err := conn.Query(ctx, "SELECT id, parent, buyer FROM orders WHERE id >= $1 AND id = ANY($2) ORDER BY id", ids[0], ids)
			need.Must(t, err)
			got, err := pgx.CollectRows(rows, pgx.RowToStructByName[order])
			need.Must(t, err)
			if !reflect.DeepEqual(got, wants) {
				t.Errorf("read %v, want %v", got, wants)
			}
			var all []uid.ID
			var text uid.ID
			err = conn.QueryRow(ctx, "SELECT array_agg(id ORDER BY id), MIN(id)::TEXT FROM orders").Scan(&all, &text)
			if !slices.Equal(all, ids) || text != ids[0] || err != nil {
				t.Errorf("read the array %v and the text %v, %v; want %v", all, text, err, ids)
			}

			_, err = conn.Exec(ctx, "INSERT INTO orders (id) VALUES ($1)", uid.ID(-1))
			need.Error(t, err, nil, "-1, want 0 or more")
			for _, value := range []string{"-1", "NULL"} {
				var id uid.ID
				need.Error(t, conn.QueryRow(ctx, "SELECT "+value+"::BIGINT").Scan(&id), uid.ErrSyntax)
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
	need.Must(t, gen.Close())
}
