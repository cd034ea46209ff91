//go:build linux

package main

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/database"
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
			if got := clitest.ReadIDs(t, uidringd.Succeed(t, "gen", "-n", "5")); len(got) != 5 {
				t.Errorf("%d, want 5 ids", got)
			}
			frees(t, dsn)
			for _, args := range []string{"gen --worker registry", "gen --worker static:1 --dsn " + dsn, "gen --segment orders"} {
				got := uidringd.Invoke(t, "", strings.Fields(args)...)
				if missing := strings.Contains(got.Stderr, "unknown tag"); got.Code == 0 || missing != (scheme == "redis" && args == "gen --segment orders") || got.Stdout != "" || strings.Contains(got.Stderr, "secret") {
					t.Errorf("%s: %+v, want it refused", args, got)
				}
			}
		})
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
