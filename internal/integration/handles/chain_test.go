//go:build linux

package handles_test

import (
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
)

// With completion_type CHAIN, each commit begins a transaction of which the driver does not know. Whoever writes by single
// statements is refused by its name; counters, which write in transactions, work.
func TestChainedTransactions(t *testing.T) {
	server := dbtest.New(t, "mysql")
	for _, c := range []client{clients[0], leases, clients[1]} {
		database := create(t, server)
		for range 2 { // the second finds the tables
			got, err := c.draw(t, database.open(t, cell{option: "completion_type=%27CHAIN%27"}), c.table)
			if c.table == "leaf_alloc" {
				need.Must(t, err)
			} else if err == nil || !strings.Contains(err.Error(), "completion_type is CHAIN") {
				t.Errorf("%s: %d, %v; want that completion_type is refused", c.table, got, err)
			}
		}
	}
}
