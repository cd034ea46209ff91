// Package sqlcgen is an example of ids in code that sqlc writes. The folder orders
// is what "sqlc generate" makes of sqlc.yaml, where the overrides are.
package sqlcgen_test

import (
	"context"
	_ "embed"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/uidring/uidring/internal/examples/sqlcgen/orders"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidtest"
)

var (
	//go:embed schema.sql
	schema string
	//go:embed sqlc.yaml
	config string
)

// TestPage: the override in README.md is one of sqlc.yaml.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	need.Must(t, err)
	_, override, _ := strings.Cut(string(page), "overrides:\n")
	override, _, ok := strings.Cut(override, "```")
	if indented := "        " + strings.ReplaceAll(strings.TrimSpace(override), "\n", "\n        "); !ok || !strings.Contains(config, indented) {
		t.Errorf("sqlc.yaml lacks\n%s", override)
	}
}

func TestQueries(t *testing.T) {
	url := need.Variable(t, "UIDRING_TEST_POSTGRES")
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	need.Must(t, err)
	defer conn.Close(ctx)
	tx, err := conn.Begin(ctx)
	need.Must(t, err)
	defer tx.Rollback(ctx) // and with it the table
	_, err = tx.Exec(ctx, "SET LOCAL search_path = pg_temp; "+schema)
	need.Must(t, err)

	ids := make([]uid.ID, 3)
	_, err = uidtest.NewSequence(t, 1000).NextN(ids)
	need.Must(t, err)
	buyer, first, second := ids[0], ids[1], ids[2]
	queries := orders.New(tx)
	for _, row := range []orders.CreateOrderParams{
		{ID: first, BuyerID: buyer, Note: "ink"},
		{ID: second, ParentID: &first, BuyerID: buyer, Note: "paper"},
	} {
		need.Must(t, queries.CreateOrder(ctx, row))
	}
	got, err := queries.OrdersOf(ctx, buyer)
	if err != nil || len(got) != 2 {
		t.Fatalf("OrdersOf = %v, %v", got, err)
	}
	if got[0].ID != first || got[0].ParentID != nil || got[1].ID != second || *got[1].ParentID != first {
		t.Errorf("OrdersOf = %v", got)
	}
	got, err = queries.OrdersByID(ctx, []int64{int64(second)})
	if err != nil || len(got) != 1 || got[0].Note != "paper" {
		t.Errorf("OrdersByID = %v, %v", got, err)
	}
}
