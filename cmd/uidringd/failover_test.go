//go:build linux

package main

import (
	"net/http"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid/segment/segmentsql"
	"github.com/uidring/uidring/worker"
)

// A server goes on after a failover of its database, and gives its number back at the end,
// though its connections to the demoted server stay. Of two PostgreSQL servers in a URL, it
// uses the one that can be written.
func TestDrillFailover(t *testing.T) {
	for name, tt := range map[string]struct {
		kind string
		url  func(f *dbtest.Failover) string
	}{
		"mysql":     {"mysql", func(f *dbtest.Failover) string { return "mysql://app@" + f.Address() + "/uidring" }},
		"postgres":  {"postgres", func(f *dbtest.Failover) string { return f.URL }},
		"two hosts": {"postgres", func(f *dbtest.Failover) string { return "postgres://app@" + f.Hosts + "/postgres?sslmode=disable" }},
	} {
		t.Run(name, func(t *testing.T) {
			f := dbtest.NewFailover(t, tt.kind, func(db *gorm.DB) error {
				if err := worker.NewStore(db, worker.StoreConfig{}).EnsureSchema(t.Context()); err != nil {
					return err
				}
				return segmentsql.NewLeafAlloc(db, segmentsql.Config{}).Create(t.Context(), "orders", 1, 1)
			})
			t.Setenv("UIDRINGD_TEST_STORE", tt.url(f))
			r := startConfig(t, `
stores: [{name: db, env: UIDRINGD_TEST_STORE}]
generators:
  - {name: ids, kind: cached, store: db, expiry: 1s}
  - {name: orders, kind: segment, store: db, max_step: 1}
shutdown: {delay: 0s}
`)
			status := func(path string) int {
				status, _ := r.get(t, path)
				return status
			}
			f.Demote(t, "WORKER_NODE", "WORKER_LEASE", "leaf_alloc")
			if name != "two hosts" {
				servertest.Eventually(t, "the counter fails", func() bool { return status("/v1/orders") == http.StatusServiceUnavailable })
			}
			f.Promote()
			began := time.Now()
			for range 3 { // two can be in memory
				servertest.Eventually(t, "the counter counts", func() bool { return status("/v1/orders") == http.StatusOK })
			}
			within(t, began, 5, "from the promotion until all requests are served")
			r.stop(t)
		})
	}
}
