package main

import (
	"context"
	"strings"
	"syscall"
	"testing"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/clitest"
)

// A database changes its layout beside processes that run: these keep theirs, and those that start take the new one, under
// numbers that keep ids apart. The counter of keys is moved where those are greater.
func TestLayoutChange(t *testing.T) {
	for _, kind := range []string{"sqlite", "mysql", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			owner, user := clitest.User(t, kind)
			run := func(code int, args ...string) (out string) {
				t.Helper()
				got := uidring.Invoke(t, "", append(args, "--dsn", user.String())...)
				if got.Code != code {
					t.Fatalf("%q: %+v, want exit code %d", args, got, code)
				}
				return got.Stdout + got.Stderr
			}
			old, next := bits.Registry().String(), bits.LongLived().String()
			clitest.Wants(t, run(1, "layout", "change", "--to", "fleet"), "--dsn")
			if kind != "sqlite" { // has no users
				clitest.Client(t, owner, uidring.Succeed(t, "schema", kind, "--user", user.User.Username()))
				clitest.Wants(t, run(1, "layout", "change", "--to", "fleet"), "remembers no layout yet")
			}
			run(0, "gen", "--layout", "registry", "--worker", "registry")
			running := start(t, "gen", "-n", "1000000000", "--dsn", user.String()) // has the number 2
			for _, grant := range map[string][]string{
				"mysql":    {"UPDATE ON WORKER_NODE"},
				"postgres": {"USAGE ON SEQUENCE public.worker_node_id_seq", "UPDATE ON WORKER_NODE"},
			}[kind] {
				clitest.Wants(t, run(1, "layout", "change", "--to", "long-lived"), "GRANT ", grant)
				clitest.Client(t, owner, "GRANT "+grant+" TO "+user.User.Username())
			}
			clitest.Wants(t, run(0, "layout", "change", "--to", "long-lived", "--dry-run"), old+": numbers up to 2 have been given", next+", under the numbers 48 to 8388607", "\norder  new ids are smaller than old ones, so ORDER BY id mixes both", "nothing was changed")
			clitest.Wants(t, run(0, "gen"), "worker number 3 ", old)
			clitest.Wants(t, run(0, "layout", "change", "--to", "long-lived"), "numbers up to 3 ", "64 to 8388607", "restart")
			clitest.Wants(t, run(0, "layout", "change", "--to", "long-lived"), "nothing to change")
			clitest.Wants(t, run(1, "gen", "--layout", "registry"), "uidring layout change --to "+old)
			numbers := run(0, "workers")
			clitest.Wants(t, numbers, "\n8388544 of the numbers 64 to 8388607 are left", "\n1 of the numbers below 64 are held by generators of an earlier layout")
			if strings.Contains(numbers, "NodeType") {
				t.Errorf("%s; want no row of a raised counter", numbers)
			}
			clitest.Wants(t, run(0, "gen"), "worker number 64 ", next, "which the database remembers")
			clitest.Wants(t, run(0, "gen", "--worker", "registry"), "worker number 65 ", next)
			clitest.Wants(t, run(0, "gen", "--layout", "long-lived"), "worker number 64 ", next)
			clitest.Wants(t, run(1, "layout", "change", "--to", "31/1/31"), "number")
			clitest.Wants(t, run(0, "layout", "change", "--to", "registry"), "numbers up to 65 ", "66 to ")
			clitest.Wants(t, run(0, "gen"), "worker number 66 ", old)
			if line, err := running.stdout.ReadString('\n'); err != nil || len(clitest.ReadIDs(t, line)) != 1 {
				t.Errorf("%q, %v from the process that has the first layout", line, err)
			}
			if code, _, stderr := running.end(t, syscall.SIGTERM); code != 143 {
				t.Errorf("%d, %s", code, stderr)
			}
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			var none strings.Builder
			if code := uidring.Run(ended, nil, &none, &none, "layout", "change", "--to", "fleet", "--dsn", user.String()); code == 0 {
				t.Errorf("changed once the context had ended: %s", &none)
			}
		})
	}
}
