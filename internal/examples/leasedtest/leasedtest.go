// Package leasedtest makes generators for the tests of the examples.
package leasedtest

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/uidring/uidring/internal/examples/leased"
	"github.com/uidring/uidring/uid"
)

// Generator returns a generator under a number that is leased on a pool of the database at
// url, in a table that the test drops.
func Generator(t testing.TB, url string) *uid.Cached {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	table := fmt.Sprintf("leasedtest_%d", os.Getpid()) // each test binary is a process
	t.Cleanup(func() {
		defer pool.Close()
		if _, err := pool.Exec(context.Background(), "DROP TABLE "+table); err != nil {
			t.Error(err)
		}
	})
	gen, err := leased.Generator(t.Context(), pool, table)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := gen.Close(); err != nil {
			t.Error(err)
		}
	})
	return gen
}
