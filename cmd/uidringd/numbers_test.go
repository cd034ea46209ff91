//go:build linux

package main

import (
	"strings"
	"testing"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/database"
)

// TestNumbers goes from an empty store to numbers that are freed, and to another layout. The URL, which may
// have a password, comes by the environment.
func TestNumbers(t *testing.T) {
	for scheme, start := range places {
		if scheme == "sqlite" || scheme == "mysql" || scheme == "postgres" {
			continue
		}
		t.Run(scheme, func(t *testing.T) {
			clitest.Elsewhere(t)
			dsn := start(t)("orders")
			t.Setenv(database.Variable, dsn)
			uidringd.Fail(t, 1, "no generator has recorded a layout there yet", "workers")
			if got := uidringd.Succeed(t, "workers", "--layout", "fleet"); !strings.HasPrefix(got, "LEASE  STATE  HOST") || !strings.Contains(got, "65536 numbers can be leased") {
				t.Errorf("an empty store: %s", got)
			}
			if got := clitest.ReadIDs(t, uidringd.Succeed(t, "gen", "--layout", "fleet", "-n", "5")); len(got) != 5 {
				t.Errorf("%d, want 5 ids", got)
			}
			uidringd.Print(t, "number 0 is free\n", "workers", "release", "0")
			for _, args := range []string{"gen --worker registry", "gen --worker static:1 --layout fleet --dsn " + dsn, "gen --segment orders"} {
				got := uidringd.Invoke(t, "", strings.Fields(args)...)
				if missing := strings.Contains(got.Stderr, "unknown tag"); got.Code == 0 || missing != (scheme == "redis" && args == "gen --segment orders") || got.Stdout != "" || strings.Contains(got.Stderr, "secret") {
					t.Errorf("%s: %+v, want it refused", args, got)
				}
			}
			changeLayout(t)
		})
	}
}
