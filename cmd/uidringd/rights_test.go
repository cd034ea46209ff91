//go:build linux

package main

import (
	"strings"
	"syscall"
	"testing"

	"github.com/uidring/uidring/cmd/internal/clitest"
)

// A server whose user has the rights that "uidringd schema" prints, and no others, starts, serves and ends, again and
// again, and warns of nothing.
func TestRights(t *testing.T) {
	for _, kind := range []string{"mysql", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			owner, user := clitest.User(t, kind)
			clitest.Client(t, owner, uidringd.Succeed(t, "schema", kind, "--user", user.User.Username()))
			createCounters(t, owner.String())
			uidringd.Succeed(t, "segments", "create", "items", "--table", "sequence", "--dsn", owner.String())
			t.Setenv("UIDRINGD_TEST_STORE", user.String())
			for range 2 {
				r := startConfig(t, `
stores: [{name: db, env: UIDRINGD_TEST_STORE}]
generators:
  - {name: ids, kind: cached, store: db, layout: registry}
  - {name: more, kind: default, worker: registry, store: db, layout: registry}
  - {name: orders, kind: segment, store: db}
  - {name: items, kind: segment, table: sequence, store: db}
  - {name: customers, kind: tags, match: customer-*, store: db}
`)
				for _, path := range []string{"ids", "more", "orders", "items", "customer-eu"} {
					r.serves(t, "/v1/"+path)
				}
				if code := r.end(t, syscall.SIGTERM); code != 0 || strings.Contains(r.log.String(), "level=WARN") {
					t.Errorf("exit code %d: %s", code, &r.log)
				}
			}
		})
	}
}
