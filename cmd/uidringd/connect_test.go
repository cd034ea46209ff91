//go:build linux

package main

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/internal/test/servertest"
)

// connects runs --check --connect, and returns what it prints and its exit code.
func connects(t *testing.T, dir, config string) (string, int) {
	t.Helper()
	cmd := process(t, dir, "--check", "--connect", "--listen", "127.0.0.1:0", "--config", write(t, dir, "c.yaml", config))
	out, _ := cmd.CombinedOutput()
	return string(out), cmd.ProcessState.ExitCode()
}

// fails expects exit code 1 and a line for each fault.
func fails(t *testing.T, dir, config string, wants ...string) {
	t.Helper()
	out, code := connects(t, dir, config)
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if code != 1 || len(lines) != len(wants) {
		t.Errorf("exit code %d, want 1 and %d lines: %s", code, len(wants), out)
		return
	}
	for _, want := range wants {
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, want) }) {
			t.Errorf("%s lacks %q", out, want)
		}
	}
}

func succeeds(t *testing.T, dir, config string) {
	t.Helper()
	if out, code := connects(t, dir, config); code != 0 || !strings.HasSuffix(out, "has no faults, and a start would succeed\n") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

const oneOfEach = `
stores: [{name: file, url: ids.db}]
generators:
  - {name: ids, kind: cached, store: file}
  - {name: own, kind: slots, worker: "static:1"}
  - {name: orders, kind: segment, store: file, create: true}
  - {name: tags, kind: tags, store: file}
shutdown: {delay: 0s}
`

// Before the first start there is no file yet, and none is made. After a start there is one,
// which a check does not change. Each fault has a line.
func TestConnect(t *testing.T) {
	dir := t.TempDir()
	succeeds(t, dir, oneOfEach)
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("files %v, %v; want the config alone", files, err)
	}
	r := start(t, dir, "--config", write(t, dir, "c.yaml", oneOfEach))
	get(t, http.DefaultClient, r.url+"/v1/orders")
	succeeds(t, dir, oneOfEach) // beside the server
	r.end(t, os.Interrupt)

	dump := func() string {
		out, err := exec.CommandContext(t.Context(), "sqlite3", dir+"/ids.db", ".dump").Output()
		if err != nil {
			text, err := os.ReadFile(dir + "/ids.db")
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		return string(out)
	}
	before := dump()
	succeeds(t, dir, oneOfEach)
	fails(t, dir, strings.ReplaceAll(oneOfEach, "name: ids,", "name: ids, layout: snowflake,"), `generator "ids": SQLite file`)
	fails(t, dir, strings.ReplaceAll(oneOfEach, "store: file, create: true}", "store: file, tag: no-such}"), `uidring segments create no-such makes it`)
	fails(t, dir, strings.ReplaceAll(oneOfEach, "create: true", "limit: 1"), "above its limit, 1")
	fails(t, dir, strings.ReplaceAll(strings.ReplaceAll(oneOfEach, "ids.db", "none.db"), "create: true", "limit: 1"), `generator "orders": SQLite file`)
	fails(t, dir, strings.ReplaceAll(oneOfEach, "ids.db", "no-such/ids.db"), "there is no folder") // for both generators
	fails(t, dir, strings.ReplaceAll(oneOfEach, `"static:1"`, "statefulset"), `generator "own": `)
	if after := dump(); after != before {
		t.Errorf("the file was changed: %s, %s", before, after)
	}

	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	succeeds(t, dir, "socket_mode: 0600\nredis: {listen: unix:redis.sock}\n"+oneOfEach)
	fails(t, dir, "redis: {listen: \""+taken.Addr().String()+"\"}\n"+oneOfEach, "bind: address already in use")
	c := write(t, dir, "c.yaml", oneOfEach)
	cmd := process(t, dir, "--check", "--connect", "--listen", taken.Addr().String(), "--config", c)
	if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "c.yaml: listen tcp "+taken.Addr().String()+": bind: address already in use\n") {
		t.Errorf("%s", out)
	}
	sockets := process(t, dir, "--check", "--connect", "--listen", "unix:http.sock", "--config", c)
	if out, _ := sockets.CombinedOutput(); sockets.ProcessState.ExitCode() != 0 {
		t.Errorf("%s", out)
	}
	few := process(t, dir)
	few.Args = []string{"sh", "-c", `ulimit -n 200 && exec "$0" "$@"`, few.Path, "--check", "--connect", "--listen", "127.0.0.1:0", "--config", c}
	few.Path = "/bin/sh"
	if out, _ := few.CombinedOutput(); few.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "limits.connections is 1000, and the system allows 200 open files") {
		t.Errorf("%s", out)
	}
	if got := uidringd.Invoke(t, "", "--connect"); got.Code != 2 || !strings.Contains(got.Stderr, "--connect is for --check") {
		t.Errorf("%+v", got)
	}
}

// A store that is unavailable, refuses the password or hangs is a fault with the store's name, and
// no secret.
func TestConnectUnavailable(t *testing.T) {
	dir := t.TempDir()
	store := servertest.StartRedis(t, append([]string{"--requirepass", "secret-1"}, servertest.Durable...)...)
	config := `
stores: [{name: redis, env: UIDRINGD_TEST_STORE}]
generators:
  - {name: ids, kind: cached, store: redis}
  - {name: stamps, kind: default, store: redis}
`
	t.Setenv("UIDRINGD_TEST_STORE", "redis://:secret-1@"+store.Address())
	succeeds(t, dir, config)
	succeeds(t, dir, strings.ReplaceAll(config, "store: redis}", "store: redis, layout: snowflake}")) // no layout was remembered
	store.Command(t, "AUTH secret-1\r\nACL SETUSER reader on >secret-2 ~* +@read +ping +hello +client")
	for _, tt := range []struct{ url, want string }{
		{"redis://:secret-3@" + store.Address(), `generator "ids", "stamps": redis://` + store.Address() + ` ($UIDRINGD_TEST_STORE): `},
		{"redis://reader:secret-2@" + store.Address(), "NOPERM"},
		{"redis://:secret-3@127.0.0.1:1", "connection refused"},
	} {
		t.Setenv("UIDRINGD_TEST_STORE", tt.url)
		fails(t, dir, config, tt.want)
		if out, _ := connects(t, dir, config); strings.Contains(out, "secret") {
			t.Errorf("%s", out)
		}
	}
	store.Pause()
	t.Setenv("UIDRINGD_TEST_STORE", "redis://:secret-1@"+store.Address()+"?timeout=200ms")
	fails(t, dir, config, "no answer within 200ms")
}

// A role without a right that a start needs is found, on each server.
func TestConnectRights(t *testing.T) {
	for variable, admin := range map[string]string{"UIDRING_TEST_POSTGRES": "postgres", "UIDRING_TEST_MYSQL": "mysql"} {
		t.Run(admin, func(t *testing.T) {
			server := clitest.Server(t, variable)
			db := clitest.Open(t, server.String())
			role, base := "uidring_r"+fmt.Sprint(time.Now().UnixNano()%1e9), "uidring_d"+fmt.Sprint(time.Now().UnixNano()%1e9)
			run := func(on *database.DB, lines ...string) {
				t.Helper()
				for _, line := range lines {
					if err := on.Exec(line).Error; err != nil {
						t.Errorf("%s: %v", line, err)
					}
				}
			}
			at := *server
			at.Path = "/" + base
			if admin == "postgres" {
				run(db, "CREATE DATABASE "+base, "CREATE ROLE "+role+" LOGIN PASSWORD 'secret'")
			} else {
				run(db, "CREATE DATABASE "+base, "CREATE USER "+role+"@'%' IDENTIFIED BY 'secret'", "GRANT SELECT ON "+base+".* TO "+role+"@'%'")
			}
			t.Cleanup(func() {
				run(db, "DROP DATABASE "+base, map[string]string{"postgres": "DROP ROLE " + role, "mysql": "DROP USER " + role + "@'%'"}[admin])
			})
			config := `
stores: [{name: db, env: UIDRINGD_TEST_STORE}]
generators:
  - {name: ids, kind: cached, store: db}
  - {name: orders, kind: segment, store: db, create: true}
shutdown: {delay: 0s}
`
			dir := t.TempDir()
			mine := at
			mine.User = url.UserPassword(role, "secret")
			t.Setenv("UIDRINGD_TEST_STORE", mine.String())
			if out, code := connects(t, dir, config); code != 1 || !strings.Contains(out, `generator "ids", "orders": `) {
				t.Errorf("without tables and the right to create one: %d %s", code, out)
			}
			t.Setenv("UIDRINGD_TEST_STORE", at.String())
			succeeds(t, dir, config)
			start(t, dir, "--config", write(t, dir, "c.yaml", config)).end(t, os.Interrupt)
			succeeds(t, dir, config)
			t.Setenv("UIDRINGD_TEST_STORE", mine.String())
			owner := clitest.Open(t, at.String())
			tables := []string{"WORKER_LEASE", "leaf_alloc"}
			to := role
			if admin == "mysql" {
				to = role + "@'%'"
			}
			grant := func(right string) {
				for _, table := range tables {
					run(owner, "GRANT "+right+" ON "+table+" TO "+to)
				}
			}
			grant("SELECT")
			fails(t, dir, config, `generator "ids": `, `generator "orders": `)
			grant("UPDATE")
			fails(t, dir, config, `generator "ids": `) // it inserts rows
			grant("INSERT")
			succeeds(t, dir, config)
			owner.Close()
		})
	}
}
