//go:build linux

package main

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/uidringd/internal/gate"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
)

// While the store is unavailable, /readyz names the generators that cannot issue ids, and
// shows nothing of the store. The server is ready unless one of them is not optional. The metrics
// and the status codes of requests show the same. The log tells more.
func TestReadyz(t *testing.T) {
	store := servertest.StartRedis(t, append([]string{"--requirepass", "secret-1"}, servertest.Durable...)...)
	t.Setenv("UIDRINGD_TEST_STORE", "redis://:secret-1@"+store.Address())
	r := startConfig(t, `
stores: [{name: redis, env: UIDRINGD_TEST_STORE}]
generators:
  - {name: ids, kind: default, store: redis, window: 2s, expiry: 1s, optional: true}
  - {name: tags, kind: tags, store: redis, match: "*", load_timeout: 500ms}
  - {name: fixed, kind: slots, worker: "static:1"}
shutdown: {delay: 0s, release: 1s}
`)
	is := func(path string, want int, text string) {
		t.Helper()
		servertest.Eventually(t, text, func() bool {
			status, got := r.get(t, path)
			return status == want && got == text
		})
	}
	is("/readyz", http.StatusOK, "ready\n")
	health(t, r, "", "SERVING")
	store.Pause()
	const note = "generator \"ids\" is not ready: no time is reserved under its worker number\n"
	is("/readyz", http.StatusOK, "ready\n"+note)
	if status, _ := r.get(t, "/v1/customers"); status != http.StatusServiceUnavailable {
		t.Errorf("a tag: %d, want 503", status)
	}
	const unanswered = "generator \"tags\" is not ready: its store is unavailable\n"
	is("/readyz", http.StatusServiceUnavailable, "not ready: generator \"tags\" is not ready, and the config does not mark it as optional\n"+note+unanswered)
	_, text := r.get(t, "/metrics")
	clitest.Wants(t, text, "\nuidringd_generator_ready{generator=\"tags\"} 0\n")
	is("/readyz?generator=ids", http.StatusServiceUnavailable, "not ready: no time is reserved under its worker number\n"+note)
	is("/readyz?generator=fixed", http.StatusOK, "ready\n")
	is("/readyz?generator=no", http.StatusNotFound, "there is no generator \"no\" in the config\n")
	health(t, r, "", "NOT_SERVING")
	health(t, r, "ids", "NOT_SERVING")
	_, text = r.get(t, "/metrics")
	clitest.Wants(t, text, "\nuidringd_generator_ready{generator=\"ids\"} 0\n", "\nuidringd_generator_ready{generator=\"fixed\"} 1\n")
	r.serves(t, "/healthz")
	for _, path := range []string{"/metrics", "/status/stats.json"} {
		if status, text := r.get(t, path); status != http.StatusOK || strings.Contains(text, "secret-1") {
			t.Errorf("%s: %d, %s", path, status, text)
		}
	}
	r.serves(t, "/v1/fixed")
	store.Continue()
	is("/readyz", http.StatusOK, "ready\n")
	store.Pause()
	if code := r.end(t, syscall.SIGTERM); code != 1 || !strings.Contains(r.log.String(), `some numbers or ranges were not given back: generator "ids": redis://`) {
		t.Errorf("exit code %d, want 1, since the number was not given back", code)
	}
	clitest.Wants(t, r.log.String(), `msg="not ready" generator=ids`, `msg="ready again" generator=ids`)
	if strings.Contains(r.log.String(), "secret-1") {
		t.Errorf("the log has a secret: %s", &r.log)
	}
}

// Probes and scrapes of any protocol, whatever they are told, have no line in the log and are not
// among the requests of the metrics. A probe that is wrong is. A second signal ends a process that is
// waiting.
func TestProbes(t *testing.T) {
	r := startConfig(t, "generators: [{name: ids, kind: default, worker: \"static:1\"}]\nlog: {requests_per_s: 1000}\nshutdown: {delay: 1m}\n")
	client := dialRedis(t, redis.Options{Addr: r.redisAddress})
	probe := func(ready int) {
		for path, want := range map[string]int{"/healthz": 200, "/readyz": ready, "/readyz?generator=ids": ready, "/metrics": 200} {
			if status, text := r.get(t, path); status != want {
				t.Errorf("%s: %d %s, want %d", path, status, text, want)
			}
		}
		health(t, r, "ids", map[int]string{200: "SERVING", 503: "NOT_SERVING"}[ready])
		if err := client.Ping(t.Context()).Err(); (err == nil) != (ready == 200) {
			t.Errorf("PING: %v", err)
		}
	}
	probe(200)
	r.get(t, "/readyz?generator=oders")
	need.Must(t, r.cmd.Process.Signal(syscall.SIGTERM))
	servertest.Eventually(t, "it is stopping", func() bool { return strings.Contains(r.log.String(), "msg=stopping") })
	probe(503)
	_, text := r.get(t, "/metrics")
	for _, route := range []string{"healthz", "metrics", "Health/Check", "redis PING"} {
		if log := r.log.String(); strings.Contains(log, route) || strings.Contains(text, route) {
			t.Errorf("%s is in the log or the metrics: %s %s", route, log, text)
		}
	}
	if strings.Count(r.log.String(), "GET /readyz") != 1 || !strings.Contains(text, "uidringd_request_duration_seconds_count{code=\"404\",route=\"GET /readyz\"} 1\n") || strings.Contains(text, `code="503"`) {
		t.Errorf("the log and the metrics are %s %s", &r.log, text)
	}
	if code := r.end(t, syscall.SIGTERM); code == 0 {
		t.Error("the second signal does not end the process at once")
	}
}

// TestOpenFiles has the system allow fewer open files than limits.connections. The server
// takes as many connections as it can, and says so.
func TestOpenFiles(t *testing.T) {
	dir := t.TempDir()
	r := &running{cmd: process(t, dir, "--listen", "127.0.0.1:0", "--config", write(t, dir, "c.yaml", "generators: [{name: ids, kind: slots, worker: \"static:1\"}]\nlimits: {read: 1h}\n"))}
	r.cmd.Args = append([]string{"sh", "-c", `ulimit -n 200 && exec "$0" "$@"`}, append([]string{r.cmd.Path}, r.cmd.Args[1:]...)...)
	r.cmd.Path = "/bin/sh"
	r.begin(t)
	const most = 200 - 128 - gate.Extras
	warning := fmt.Sprintf("limits.connections is 1000, but the system allows 200 open files: the server accepts %d connections", most)
	servertest.Eventually(t, warning, func() bool { return strings.Contains(r.log.String(), warning) })
	clitest.Wants(t, r.log.String(), fmt.Sprintf("raise RLIMIT_NOFILE to %d,", 1000+128+gate.Extras))
	for range 300 {
		conn, err := net.Dial("tcp", r.address())
		need.Must(t, err)
		defer conn.Close()
	}
	_, metrics := r.get(t, "/metrics")
	clitest.Wants(t, metrics, fmt.Sprintf("\nuidringd_connections %d\n", most))
}
