package main

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/internal/clitest"
)

// TestServers has numbers come and go on the servers that the environment names.
func TestServers(t *testing.T) {
	for _, variable := range []string{"UIDRING_TEST_MYSQL", "UIDRING_TEST_POSTGRES"} {
		for name, test := range map[string]func(t *testing.T, dsn string){"registry": register, "twice": leaseTwice, "life": leaseLife} {
			t.Run(variable+"/"+name, func(t *testing.T) {
				test(t, emptyDatabase(t, clitest.Server(t, variable)))
			})
		}
	}
}

// register takes two numbers of an empty database.
func register(t *testing.T, dsn string) {
	if got := uidring.Invoke(t, "", "workers", "--dsn", dsn); got.Code != 1 || !strings.Contains(got.Stderr, "there is no table WORKER_NODE") {
		t.Errorf("before the first start: %+v", got)
	}
	a := clitest.Allocator(t, "default")
	for range 2 {
		id := clitest.ReadIDs(t, uidring.WithoutWarnings(t, "gen", "--dsn", dsn))[0]
		parts, err := a.Parse(id)
		if list := uidring.Workers(t, dsn); err != nil || list.Last == 0 || list.Last != parts.Worker {
			t.Errorf("%+v, %v: %+v", parts, err, list)
		}
	}
	if list := uidring.Workers(t, dsn); len(list.Workers) != 2 || list.Workers[0].ID <= list.Workers[1].ID {
		t.Errorf("%+v", list)
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
