package leased_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/uidring/uidring/internal/examples/leased"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

// Two generators on one pool hold different numbers, and give them back on the pool.
func TestGenerator(t *testing.T) {
	url := need.Variable(t, "UIDRING_TEST_POSTGRES")
	ctx := t.Context()
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	table := fmt.Sprintf("leased_%d", os.Getpid())
	defer func() {
		if _, err := pool.Exec(ctx, "DROP TABLE "+table); err != nil {
			t.Error(err)
		}
	}()
	one, err := leased.Generator(ctx, pool, table)
	if err != nil {
		t.Fatal(err)
	}
	other, err := leased.Generator(ctx, pool, table)
	if err != nil {
		t.Fatal(err)
	}
	if one.Worker() == other.Worker() {
		t.Errorf("both hold number %d", one.Worker())
	}
	id, err := one.Next()
	if parts, _ := one.Parse(id); err != nil || parts.Worker != one.Worker() {
		t.Errorf("Next() = id of worker %d, %v, want worker %d", parts.Worker, err, one.Worker())
	}
	for _, gen := range []*uid.Cached{one, other} {
		if err := gen.Close(); err != nil {
			t.Error(err)
		}
	}
}
