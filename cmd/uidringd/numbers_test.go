//go:build linux

package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/cmd/internal/workers"
	"github.com/uidring/uidring/cmd/uidringd/internal/stores"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/lease"
)

// TestNumbers goes from an empty store to numbers that are freed. The URL, which may
// have a password, comes by the environment.
func TestNumbers(t *testing.T) {
	for scheme, start := range map[string]func(t *testing.T) string{
		"etcd": func(t *testing.T) string {
			return strings.TrimPrefix(servertest.StartEtcd(t, 1)[0].Endpoint, "http://")
		},
		"redis": func(t *testing.T) string {
			return ":secret@" + servertest.StartRedis(t, append([]string{"--requirepass", "secret"}, servertest.Durable...)...).Address()
		},
		"zk": func(t *testing.T) string { return servertest.StartZooKeeper(t, 1, nil)[0].Address },
		"kube": func(t *testing.T) string {
			k := servertest.StartKube(t)
			k.Namespace(t, "orders")
			return "orders?kubeconfig=" + k.Kubeconfig(t, servertest.KubeAdmin, "default")
		},
	} {
		t.Run(scheme, func(t *testing.T) {
			clitest.Elsewhere(t)
			dsn := scheme + "://" + start(t)
			t.Setenv(database.Variable, dsn)
			if got := uidringd.Succeed(t, "workers"); !strings.HasPrefix(got, "LEASE  STATE  HOST") || !strings.Contains(got, "4194304 of 4194304 numbers are left to lease") {
				t.Errorf("an empty store: %s", got)
			}
			makesIDs(t)
			frees(t, dsn)
			for _, args := range []string{"gen --worker registry", "gen --worker static:1 --dsn " + dsn, "gen --segment orders"} {
				got := uidringd.Invoke(t, "", strings.Fields(args)...)
				if got.Code != 2 || got.Stdout != "" || strings.Contains(got.Stderr, "secret") {
					t.Errorf("%s: %+v, want it refused", args, got)
				}
			}
		})
	}
}

// makesIDs has starts follow each other: no id comes twice, and numbers are given back.
func makesIDs(t *testing.T) {
	t.Helper()
	a := clitest.Allocator(t, "default")
	var all []int64
	for _, more := range []string{"", "--worker lease", "--generator default"} {
		ids := clitest.ReadIDs(t, uidringd.Succeed(t, append([]string{"gen", "-n", "5"}, strings.Fields(more)...)...))
		if parts, err := a.Parse(ids[4]); err != nil || parts.Worker > 2 {
			t.Errorf("%d: %+v, %v", ids, parts, err)
		}
		all = append(all, ids...)
	}
	slices.Sort(all)
	if len(slices.Compact(all)) != 15 {
		t.Errorf("%d, want 15 ids that differ", all)
	}
	var list workers.Listing
	if err := json.Unmarshal([]byte(uidringd.Succeed(t, "workers", "--json", "--limit", "0")), &list); err != nil {
		t.Fatal(err)
	}
	for _, row := range list.Leases {
		if row.State != lease.StateFree {
			t.Errorf("%+v, want it free", row)
		}
	}
}

// nine is a lease.Assigner.
type nine struct{}

func (nine) Assign(context.Context, int64) (int64, error) { return 9, nil }

// holds takes the number 9. The holder dies when the test calls the function.
func holds(t *testing.T, dsn string) (dies func()) {
	t.Helper()
	open, err := stores.At(dsn, "the test").Leases(t.Context(), lease.Config{Assigner: nine{}, Expiry: time.Minute, Logger: slog.New(slog.DiscardHandler), Node: lease.Node{Host: "bill\x1bing", Port: "80", Type: lease.NodeContainer}})
	if err != nil {
		t.Fatal(err)
	}
	held, err := open.Lease(t.Context(), lease.Request{Limit: 1023, Clock: time.Now, Granted: func(lease.Grant) {}})
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := open.Close(); err != nil {
			t.Error(err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		_ = held.Release(ended, time.Now()) // which does not reach the store
	}
}

// frees frees the number of a live holder, which takes --force.
func frees(t *testing.T, dsn string) {
	t.Helper()
	defer holds(t, dsn)()
	if got := uidringd.Succeed(t, "workers"); !strings.Contains(got, "\n9      held   \"bill\\x1bing\"  80") {
		t.Errorf("%s, want the holder in it", got)
	}
	for _, tt := range []struct {
		args, said string
		code       int
	}{
		{"9", "(UIDRING_DSN): number 9 is held", 1},
		{"10", "(UIDRING_DSN): number 10 has no lease", 1},
		{"9 --force", "number 9 is free\n", 0},
		{"9", "number 9 is free\n", 0},
	} {
		got := uidringd.Invoke(t, "", strings.Fields("workers release "+tt.args)...)
		if got.Code != tt.code || !strings.Contains(got.Stdout+got.Stderr, tt.said) || strings.Contains(got.Stderr, "secret") {
			t.Errorf("release %s: %+v, want %q", tt.args, got, tt.said)
		}
	}
}

// A store that is unavailable ends a command in time, and its password is not shown.
func TestNumbersUnavailable(t *testing.T) {
	clitest.Elsewhere(t)
	nobody := servertest.Addresses(t, 1)[0]
	for _, scheme := range []string{"etcd", "redis", "zk"} {
		for _, args := range []string{"gen", "workers", "workers release 1"} {
			got := uidringd.Invoke(t, "", append(strings.Fields(args), "--dsn", scheme+"://user:secret@"+nobody)...)
			if got.Code != 1 || got.Stdout != "" || strings.Count(got.Stderr, "\n") != 1 || strings.Contains(got.Stderr, "secret") ||
				!strings.HasPrefix(got.Stderr, "uidringd: "+scheme+"://"+nobody+" (--dsn): ") || !strings.Contains(got.Stderr, "connection refused") {
				t.Errorf("%s: %+v", args, got)
			}
			got = uidringd.Invoke(t, "", append(strings.Fields(args), "--dsn", scheme+"://user:sec/ret@"+nobody)...)
			if got.Code != 2 || strings.Contains(got.Stderr, "sec/") || !strings.Contains(got.Stderr, "--dsn: the URL does not parse") {
				t.Errorf("%s: %+v", args, got)
			}
		}
	}
}
