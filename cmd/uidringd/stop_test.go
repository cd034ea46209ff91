//go:build unix

package main

import (
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	redigo "github.com/gomodule/redigo/redis"
	"github.com/redis/go-redis/v9"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
)

// Requests that are in flight when SIGTERM comes are answered, and end their connections of
// HTTP. Redis clients draw on while the server drains. No command fails. The
// server is not ready at once. It gives back its number and the rest of its range.
func TestTerminate(t *testing.T) {
	dir := t.TempDir()
	config := write(t, dir, "uidring.yaml", `
stores: [{name: file, url: uidring.db}]
generators:
  - {name: ids, kind: cached, store: file, ids_per_s: -1}
  - {name: orders, kind: segment, store: file, create: true}
shutdown: {delay: 5s}
log: {requests_per_s: 0}
`)
	r := start(t, dir, "--config", config)
	var clients sync.WaitGroup
	var answered atomic.Int64
	for range 4 {
		clients.Go(func() {
			client := &http.Client{Transport: new(http.Transport)} // a connection of its own
			defer client.CloseIdleConnections()
			for {
				answer, err := client.Get(r.url + "/v1/ids?n=10")
				if err != nil || answer.StatusCode != http.StatusOK {
					t.Error(answer, err)
					return
				}
				answer.Body.Close()
				answered.Add(1)
				if answer.Close { // the server asks to go elsewhere
					return
				}
			}
		})
	}
	enough := make(chan struct{})
	pool := dialRedis(t, redis.Options{Addr: r.redisAddress, PoolSize: 4})
	single := &redigo.Pool{MaxIdle: 1, Dial: func() (redigo.Conn, error) { return redigo.Dial("tcp", r.redisAddress) }}
	defer single.Close()
	pooled := &client{name: "a pool of four connections", draw: func() error { return pool.Incr(t.Context(), "orders").Err() }}
	alone := &client{name: "a pool of one connection", draw: func() error { return incr(single, "orders") }}
	for _, c := range []*client{pooled, pooled, pooled, pooled, alone} {
		clients.Go(func() { c.run(t, enough) })
	}
	draw := func(n int64) {
		until, other := pooled.drawn.Load()+n, alone.drawn.Load()+n
		servertest.Eventually(t, "Redis clients draw", func() bool { return pooled.drawn.Load() >= until && alone.drawn.Load() >= other })
	}
	draw(100)
	for answered.Load() < 100 && !t.Failed() {
		runtime.Gosched()
	}
	need.Must(t, r.cmd.Process.Signal(syscall.SIGHUP)) // which is ignored
	for range 200 {
		r.serves(t, "/readyz")
	}
	need.Must(t, r.cmd.Process.Signal(syscall.SIGTERM))
	for {
		status, text := r.get(t, "/readyz")
		if status == http.StatusServiceUnavailable && text == "not ready: the server is stopping\n" {
			break
		}
	}
	r.serves(t, "/v1/ids")
	draw(50) // within the delay of five seconds, on a slow machine too
	close(enough)
	clients.Wait()
	_ = r.cmd.Wait()
	if code := r.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d: %s", code, &r.log)
	}
	pooled.done(t)
	alone.done(t)
	if !strings.HasSuffix(r.log.String(), "msg=stopped\n") {
		t.Errorf("the log does not end with that the server stopped: %s", &r.log)
	}
	out, err := process(t, dir, "workers", "--dsn", "uidring.db").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "free") {
		t.Errorf("%v, %s; want the number to be free", err, out)
	}
	// No order was lost but those of answers that nobody got.
	again, drawn := start(t, dir, "--config", config), pooled.drawn.Load()+alone.drawn.Load()
	id, err := dialRedis(t, redis.Options{Addr: again.redisAddress}).Incr(t.Context(), "orders").Result()
	if err != nil || id <= drawn || id > drawn+10 {
		t.Errorf("order %d after %d answers, %v", id, drawn, err)
	}
}

// A server with thousands of open tags gives back all their ids. How long that takes is up to the
// database: segment's TestManyTagsAtOnce bounds it in virtual time.
func TestManyTags(t *testing.T) {
	owner, _ := clitest.User(t, "postgres")
	db := clitest.Open(t, owner.String())
	counters := func(what string) (n int) {
		need.Must(t, db.Raw("SELECT count(*) FROM leaf_alloc WHERE "+what).Scan(&n).Error)
		return n
	}
	const tags = 3000
	uidringd.Succeed(t, "segments", "create", "table", "--dsn", owner.String())
	need.Must(t, db.Exec("INSERT INTO leaf_alloc (biz_tag, max_id, step) SELECT 'many-' || n, 1, 100 FROM generate_series(1, ?) n", tags).Error)
	t.Setenv("UIDRINGD_TEST_STORE", owner.String())
	r := startConfig(t, `
stores: [{name: db, env: UIDRINGD_TEST_STORE}]
generators: [{name: many, kind: tags, store: db, match: many-*}]
shutdown: {delay: 0s, release: 10m}
`)
	var clients sync.WaitGroup
	for client := range 16 {
		clients.Go(func() {
			for tag := client + 1; tag <= tags; tag += 16 {
				if status, text := get(t, http.DefaultClient, fmt.Sprintf("%s/v1/many-%d", r.url, tag)); status != http.StatusOK || text != "1\n" {
					t.Errorf("tag %d: %d %s", tag, status, text)
				}
			}
		})
	}
	clients.Wait()
	if n := counters("max_id > 2"); n != tags {
		t.Errorf("%d of %d tags have a range", n, tags)
	}
	r.stop(t)
	if n := counters("max_id = 2"); n != tags {
		t.Errorf("%d of %d tags have lost no id", n, tags)
	}
}

// A signal ends a process that waits for a store at its start, with the exit code of the signal.
func TestSignalAtStart(t *testing.T) {
	store, err := net.Listen("tcp", "127.0.0.1:0")
	need.Must(t, err)
	defer store.Close()
	t.Setenv("UIDRINGD_TEST_STORE", "mysql://u@"+store.Addr().String()+"/test")
	dir := t.TempDir()
	config := write(t, dir, "c.yaml", "stores: [{name: db, env: UIDRINGD_TEST_STORE}]\ngenerators: [{name: ids, kind: cached, store: db}]\n")
	cmd := process(t, dir, "--listen", "127.0.0.1:0", "--config", config)
	var log strings.Builder
	cmd.Stderr = &log
	need.Must(t, cmd.Start())
	conn, err := store.Accept()
	need.Must(t, err)
	defer conn.Close() // the store sends nothing until then
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGTERM) || log.Len() > 0 {
		t.Errorf("exit code %d, want 143: %s", code, &log)
	}
}
