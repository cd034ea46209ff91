//go:build linux

package main

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
)

// drilled has a generator of each kind that needs its store again and again.
const drilled = `
generators:
  - {name: ids, kind: cached, store: db, window: 2s, expiry: 1s, max_age: 1s}
  - {name: orders, kind: segment, store: db, step: 20, max_step: 20, load_timeout: 1s}
  - {name: customers, kind: tags, match: customer-*, store: db, step: 20, max_step: 20, load_timeout: 1s}
shutdown: {delay: 0s}
`

// drill has a store refuse writes beneath a server that was ready. Requests are served from memory, then
// fail; the server is not ready, and says why in the log; once the store takes writes again, the same
// process is ready and its ids go on.
func drill(t *testing.T, r *running, cause string, begin, end func()) {
	t.Helper()
	last := map[string]string{}
	draw := func() (failed bool) {
		for _, name := range []string{"ids", "orders", "customer-eu"} {
			status, text := get(t, http.DefaultClient, r.url+"/v1/"+name)
			switch {
			case status != http.StatusOK:
				failed = true
			case len(text) < len(last[name]) || len(text) == len(last[name]) && text <= last[name]:
				t.Fatalf("%s: %s after %s", name, text, last[name])
			default:
				last[name] = text
			}
		}
		return failed
	}
	ready := func() bool {
		status, _ := get(t, http.DefaultClient, r.url+"/readyz")
		return status == http.StatusOK
	}
	servertest.Eventually(t, "the server is ready", ready)
	if draw() {
		t.Fatal("a server that is ready does not serve")
	}
	begin()
	if draw() {
		t.Error("ids in memory are not served")
	}
	servertest.Eventually(t, "all requests fail, and the server is not ready", func() bool {
		draw()
		_, metrics := get(t, http.DefaultClient, r.url+"/metrics")
		return !ready() && strings.Contains(metrics, "\nuidringd_generator_ready{generator=\"ids\"} 0\n") &&
			strings.Contains(metrics, "\nuidringd_generator_ready{generator=\"orders\"} 0\n") &&
			strings.Contains(metrics, "\nuidringd_generator_ready{generator=\"customers\"} 0\n")
	})
	for _, want := range []string{"cannot renew the number", "cannot reserve ids", "not ready", cause} {
		if !strings.Contains(r.log.String(), want) {
			t.Errorf("the log lacks %q: %s", want, &r.log)
		}
	}
	end()
	servertest.Eventually(t, "the server is ready again", ready)
	servertest.Eventually(t, "requests are served again", func() bool { return !draw() })
	for _, want := range []string{"renewing the number again", "reserving ids again", "ready again"} {
		servertest.Eventually(t, "the log has "+want, func() bool { return strings.Contains(r.log.String(), want) })
	}
	if code := r.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d: %s", code, &r.log)
	}
}

// The system refuses every write to a file, as a full disk does.
func TestDiskFull(t *testing.T) {
	need.CI(t)
	dir := t.TempDir()
	for _, tag := range []string{"orders", "customer-eu"} {
		uidringd.Succeed(t, "segments", "create", tag, "--dsn", dir+"/ids.db")
	}
	r := start(t, dir, "--config", write(t, dir, "c.yaml", "stores: [{name: db, url: ids.db}]"+drilled))
	limit := func(bytes uint64) {
		t.Helper()
		now := syscall.Rlimit{Cur: bytes, Max: 1 << 40}
		_, _, failed := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(r.cmd.Process.Pid), syscall.RLIMIT_FSIZE, uintptr(unsafe.Pointer(&now)), 0, 0, 0)
		if failed != 0 {
			t.Fatal(failed)
		}
	}
	drill(t, r, "disk", func() { limit(0) }, func() { limit(1 << 40) })
}

// A DBA revokes the rights of a server that runs, and grants them again.
func TestRightsRevoked(t *testing.T) {
	need.CI(t)
	for _, kind := range []string{"mysql", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			owner, user := clitest.User(t, kind)
			name := user.User.Username()
			grants := uidringd.Succeed(t, "schema", kind, "--user", name)
			clitest.Client(t, owner, grants)
			for _, tag := range []string{"orders", "customer-eu"} {
				uidringd.Succeed(t, "segments", "create", tag, "--dsn", owner.String())
			}
			t.Setenv("UIDRINGD_TEST_STORE", user.String())
			r := startConfig(t, "stores: [{name: db, env: UIDRINGD_TEST_STORE}]"+drilled)
			var revokes, again strings.Builder
			for statement := range strings.SplitSeq(grants, ";") {
				if _, right, found := strings.Cut(statement, "GRANT "); found && strings.Contains(right, "UPDATE") {
					right, _, _ = strings.Cut(right, " TO ")
					revokes.WriteString("REVOKE " + right + " FROM " + name + ";\n")
					again.WriteString("GRANT " + right + " TO " + name + ";\n")
				}
			}
			if revokes.Len() == 0 {
				t.Fatalf("no right to revoke in %s", grants)
			}
			drill(t, r, "denied", func() { clitest.Client(t, owner, revokes.String()) }, func() { clitest.Client(t, owner, again.String()) })
		})
	}
}
