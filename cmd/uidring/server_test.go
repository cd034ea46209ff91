package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/database"
)

// TestServers goes from an empty database to two workers, on the servers that
// the environment names.
func TestServers(t *testing.T) {
	for _, variable := range []string{"UIDRING_TEST_MYSQL", "UIDRING_TEST_POSTGRES"} {
		t.Run(variable, func(t *testing.T) {
			server := os.Getenv(variable)
			if server == "" {
				t.Skip(variable + " is not set")
			}
			dsn := emptyDatabase(t, server)

			got := invoke(t, "", "workers", "--dsn", dsn)
			if got.code != 1 || !strings.Contains(got.stderr, "there is no table WORKER_NODE") {
				t.Errorf("before the first start: %+v", got)
			}
			a := allocator(t, "default")
			for start := range int64(2) {
				ids := readIDs(t, withoutWarnings(t, "gen", "-n", "5", "--dsn", dsn))
				if parts, err := a.Parse(ids[4]); err != nil || parts.Worker < start+1 || len(ids) != 5 {
					t.Errorf("%d: %+v, %v", ids, parts, err)
				}
			}
			var list listing
			out := succeed(t, "workers", "--json", "--dsn", dsn)
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
		server := os.Getenv(variable)
		for name, test := range map[string]func(t *testing.T, dsn string){"twice": leaseTwice, "life": leaseLife} {
			t.Run(variable+"/"+name, func(t *testing.T) {
				if server == "" {
					t.Skip(variable + " is not set")
				}
				test(t, emptyDatabase(t, server))
			})
		}
	}
}

// emptyDatabase makes a database of the test's own and returns its URL.
func emptyDatabase(t *testing.T, server string) string {
	t.Helper()
	db, err := database.Open(server)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("uidring_cmd_%d", time.Now().UnixNano())
	if err := db.Exec("CREATE DATABASE " + name).Error; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Exec("DROP DATABASE " + name).Error; err != nil {
			t.Error(err)
		}
		if err := database.Close(db); err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}
