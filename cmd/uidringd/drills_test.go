//go:build linux

package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
)

// page is where operators read how a drill ends.
const page = "../../docs/incidents.md"

// within prints how long a drill took, and compares that with what the page says.
func within(t *testing.T, began time.Time, seconds int, what string) {
	t.Helper()
	took := time.Since(began)
	t.Logf("%s: %v", what, took.Round(10*time.Millisecond))
	text, err := os.ReadFile(page)
	need.Must(t, err)
	if want := fmt.Sprintf("within %d seconds", seconds); took > time.Duration(seconds)*time.Second || !strings.Contains(string(text), want) {
		t.Errorf("want %s, and that %s says so", want, page)
	}
}

// startRefused starts a server, which has to end at once and say why.
func startRefused(t *testing.T, config, want string) {
	t.Helper()
	began := time.Now()
	cmd := process(t, t.TempDir(), "--listen", "127.0.0.1:0", "--config", write(t, t.TempDir(), "c.yaml", config))
	out, _ := cmd.CombinedOutput()
	within(t, began, 10, "until the start is refused: "+want)
	if code := cmd.ProcessState.ExitCode(); code == 0 || !strings.Contains(string(out), want) {
		t.Errorf("exit code %d, %s; want %q", code, out, want)
	}
}

// drilled has a generator of each kind that needs its store again and again.
const drilled = `
generators:
  - {name: ids, kind: cached, store: db, window: 2s, expiry: 1s, max_age: 1s}
  - {name: orders, kind: segment, store: db, step: 20, max_step: 20, load_timeout: 1s}
  - {name: customers, kind: tags, match: customer-*, store: db, step: 20, max_step: 20, load_timeout: 1s}
shutdown: {delay: 0s}
`

// createCounters creates the counters that drill uses.
func createCounters(t *testing.T, dsn string) {
	t.Helper()
	for _, tag := range []string{"orders", "customer-eu"} {
		uidringd.Succeed(t, "segments", "create", tag, "--dsn", dsn)
	}
}

// drill has a store refuse writes beneath a server that was ready. Requests are served from memory, then
// fail; the server is not ready, and says why in the log; once the store takes writes again, the same
// process is ready and its ids go on.
func drill(t *testing.T, r *running, cause string, begin, end func()) {
	t.Helper()
	last := map[string]string{}
	draw := func() (failed bool) {
		for _, name := range []string{"ids", "orders", "customer-eu"} {
			status, text := r.get(t, "/v1/"+name)
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
	ready := func() bool { return r.ready(t) }
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
		_, metrics := r.get(t, "/metrics")
		return !ready() && strings.Contains(metrics, "\nuidringd_generator_ready{generator=\"ids\"} 0\n") &&
			strings.Contains(metrics, "\nuidringd_generator_ready{generator=\"orders\"} 0\n") &&
			strings.Contains(metrics, "\nuidringd_generator_ready{generator=\"customers\"} 0\n")
	})
	clitest.Wants(t, r.log.String(), "cannot renew the number", "cannot reserve ids", "not ready", cause)
	end()
	began := time.Now()
	servertest.Eventually(t, "the server is ready again", ready)
	servertest.Eventually(t, "requests are served again", func() bool { return !draw() })
	within(t, began, 30, "from the repair until all requests are served")
	for _, want := range []string{"renewing the number again", "reserving ids again", "ready again"} {
		servertest.Eventually(t, "the log has "+want, func() bool { return strings.Contains(r.log.String(), want) })
	}
	r.stop(t)
}

// The store ends, and begins again.
func TestDrillStoreDown(t *testing.T) {
	need.CI(t)
	server := servertest.StartRedis(t, servertest.Durable...)
	link := servertest.NewLink(t, server.Address)
	t.Setenv("UIDRINGD_TEST_STORE", "redis://"+link.Address())
	createCounters(t, "redis://"+link.Address())
	r := startConfig(t, "stores: [{name: db, env: UIDRINGD_TEST_STORE}]"+drilled)
	drill(t, r, "connection refused", func() {
		link.Cut()
		server.Kill()
	}, func() {
		server.Restart(t)
		need.Must(t, link.Mend())
	})
}

// The system refuses every write to a file, as a full disk does.
func TestDrillDiskFull(t *testing.T) {
	need.CI(t)
	dir := t.TempDir()
	createCounters(t, dir+"/ids.db")
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
func TestDrillRightsRevoked(t *testing.T) {
	need.CI(t)
	for _, kind := range []string{"mysql", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			owner, user := clitest.User(t, kind)
			name := user.User.Username()
			grants := uidringd.Succeed(t, "schema", kind, "--user", name)
			clitest.Client(t, owner, grants)
			createCounters(t, owner.String())
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

// A backup of the tables is restored beneath a server, or its file is replaced. The server's number is not its own any more,
// which it notices at its next renewal.
func TestDrillRestored(t *testing.T) {
	need.CI(t)
	for _, kind := range []string{"mysql", "postgres", "sqlite"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			owner, _ := clitest.User(t, kind)
			config := "stores: [{name: db, url: \"" + owner.String() + "\"}]\ngenerators: [{name: ids, kind: cached, store: db}]\nshutdown: {delay: 0s}\n"
			uidringd.Succeed(t, "gen", "--dsn", owner.String())
			if kind == "sqlite" {
				clitest.Client(t, owner, "VACUUM INTO '"+owner.Opaque+".backup'")
			} else {
				clitest.Client(t, owner, "CREATE TABLE backup AS SELECT * FROM WORKER_LEASE")
			}
			r := startConfig(t, config)
			began := time.Now()
			if kind == "sqlite" {
				need.Must(t, os.Rename(owner.Opaque+".backup", owner.Opaque))
				for _, suffix := range []string{"-wal", "-shm"} {
					need.Must(t, os.RemoveAll(owner.Opaque+suffix)) // if it is there
				}
			} else {
				clitest.Client(t, owner, "DELETE FROM WORKER_LEASE; INSERT INTO WORKER_LEASE SELECT * FROM backup")
			}
			servertest.Eventually(t, "the server has another number", func() bool { return strings.Contains(r.log.String(), "took another number") })
			within(t, began, 20, "from the restore until the server has another number")
			clitest.Wants(t, r.log.String(), "the number is lost")
			r.serves(t, "/v1/ids")
			r.stop(t)
		})
	}
}

// A start that cannot have a number ends at once, and leaves the store as it was: all numbers are held, or the store's
// clock shows another time.
func TestDrillRefused(t *testing.T) {
	need.CI(t)
	owner, _ := clitest.User(t, "mysql")
	config := func(query, layout string) string {
		return "stores: [{name: db, url: \"" + owner.String() + query + "\"}]\ngenerators: [{name: ids, kind: cached, store: db, layout: \"" + layout + "\"}]\nshutdown: {delay: 0s}\n"
	}
	const one = "31/1/31" // number 1 is the only one
	r := startConfig(t, config("", one))
	db := clitest.Open(t, owner.String())
	rows := func() (n int64) {
		need.Must(t, db.DB.Raw("SELECT (SELECT COUNT(*) FROM WORKER_NODE) + COUNT(*) FROM WORKER_LEASE").Scan(&n).Error)
		return n
	}
	before := rows()
	for query, want := range map[string]string{
		"": "numbers exhausted",
		fmt.Sprintf("?timestamp=%d", time.Now().Add(-2*time.Minute).Unix()): "ahead of the store's",
		fmt.Sprintf("?timestamp=%d", time.Now().Add(2*time.Minute).Unix()):  "behind the store's",
	} {
		startRefused(t, config(query, one), want)
		if after := rows(); after != before {
			t.Errorf("%d rows, %d before", after, before)
		}
	}
	r.stop(t)
	r = startConfig(t, config("", one)) // which has the number that is free again
	r.serves(t, "/v1/ids")
}

// A layout ends beneath a server. Requests fail, restarts too, until the layout is changed.
func TestDrillLayoutEnded(t *testing.T) {
	need.CI(t)
	first, _ := clitest.User(t, "postgres")
	began := time.Now()
	startConfig(t, "stores: [{name: db, url: \""+first.String()+"\"}]\ngenerators: [{name: ids, kind: default, store: db}]\nshutdown: {delay: 0s}\n").stop(t)
	owner, _ := clitest.User(t, "postgres")
	end := time.Now().Add(5*time.Second + 4*time.Since(began)) // after a start on this machine
	ending := "20/10/20,epoch=" + end.Add(-1<<20*time.Second).UTC().Format(time.RFC3339)
	config := "stores: [{name: db, url: \"" + owner.String() + "\"}]\ngenerators: [{name: ids, kind: default, store: db}]\nshutdown: {delay: 0s}\n"
	stated := strings.Replace(config, "store: db}", "store: db, layout: \""+ending+"\"}", 1)
	r := startConfig(t, stated)
	r.serves(t, "/v1/ids")
	servertest.Eventually(t, "requests fail", func() bool {
		status, _ := r.get(t, "/v1/ids")
		return status == http.StatusInternalServerError
	})
	if status, text := r.get(t, "/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("readyz: %d %s", status, text)
	}
	r.stop(t)
	for text, want := range map[string]string{stated: "which ended at", config: "layout has run out of time"} {
		startRefused(t, text, want)
	}
	uidringd.Succeed(t, "layout", "change", "--to", "fleet", "--dsn", owner.String())
	r = startConfig(t, config)
	r.serves(t, "/v1/ids")
}
