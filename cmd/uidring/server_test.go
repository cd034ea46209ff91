package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/workers"
)

// TestServers goes from an empty database to two workers, on the servers that
// the environment names.
func TestServers(t *testing.T) {
	for _, variable := range []string{"UIDRING_TEST_MYSQL", "UIDRING_TEST_POSTGRES"} {
		t.Run(variable, func(t *testing.T) {
			dsn := emptyDatabase(t, clitest.Server(t, variable))

			got := uidring.Invoke(t, "", "workers", "--dsn", dsn)
			if got.Code != 1 || !strings.Contains(got.Stderr, "there is no table WORKER_NODE") {
				t.Errorf("before the first start: %+v", got)
			}
			a := clitest.Allocator(t, "default")
			for start := range int64(2) {
				ids := clitest.ReadIDs(t, uidring.WithoutWarnings(t, "gen", "-n", "5", "--dsn", dsn))
				if parts, err := a.Parse(ids[4]); err != nil || parts.Worker < start+1 || len(ids) != 5 {
					t.Errorf("%d: %+v, %v", ids, parts, err)
				}
			}
			var list workers.Listing
			out := uidring.Succeed(t, "workers", "--json", "--dsn", dsn)
			if err := json.Unmarshal([]byte(out), &list); err != nil {
				t.Fatal(err)
			}
			if len(list.Workers) != 2 || list.Workers[0].ID <= list.Workers[1].ID || list.Last != list.Workers[0].ID {
				t.Errorf("%s", out)
			}
		})
	}
}

// TestServersLease has numbers come and go on the servers.
func TestServersLease(t *testing.T) {
	for _, variable := range []string{"UIDRING_TEST_MYSQL", "UIDRING_TEST_POSTGRES"} {
		for name, test := range map[string]func(t *testing.T, dsn string){"twice": leaseTwice, "life": leaseLife} {
			t.Run(variable+"/"+name, func(t *testing.T) {
				test(t, emptyDatabase(t, clitest.Server(t, variable)))
			})
		}
	}
}

// emptyDatabase makes a database of the test's own and returns its URL.
func emptyDatabase(t *testing.T, server *url.URL) string {
	t.Helper()
	db := clitest.Open(t, server.String())
	name := fmt.Sprintf("uidring_cmd_%d", time.Now().UnixNano())
	if err := db.Exec("CREATE DATABASE " + name).Error; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Exec("DROP DATABASE " + name).Error; err != nil {
			t.Error(err)
		}
	})
	server.Path = "/" + name
	return server.String()
}
