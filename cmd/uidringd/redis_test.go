//go:build linux

package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/uidring/uidring/internal/test/need"
)

// Without a config, the line that the server prints and those of its page work. If the port is
// taken, the server says so and goes on.
func TestRedisFirstStart(t *testing.T) {
	need.Program(t, "redis-cli")
	r := start(t, t.TempDir())
	if ids := shell(t, r.redisCommand); len(ids) != 1 {
		t.Errorf("%s: %v", r.redisCommand, ids)
	}
	_, page := r.get(t, "/")
	lines := regexp.MustCompile(`<pre>(redis-cli .*)</pre>`).FindAllStringSubmatch(page, -1)
	for _, line := range lines {
		if ids := shell(t, line[1]); len(ids) != 1 {
			t.Errorf("%s: %v", line[1], ids)
		}
	}
	if len(lines) != 2 {
		t.Errorf("%d lines of redis-cli, want 2: %s", len(lines), page)
	}
	if taken, err := net.Listen("tcp", "127.0.0.1:6380"); err == nil { // else another process has it, which does as well
		defer taken.Close()
	}
	other := &running{cmd: process(t, t.TempDir(), "--listen", "127.0.0.1:0")}
	other.begin(t)
	if status, _ := other.get(t, "/v1/orders"); status != http.StatusOK || !strings.Contains(other.log.String(), "the Redis protocol is not served: another process uses its port") {
		t.Errorf("%d, %s", status, &other.log)
	}
	other.end(t, os.Interrupt)
}

// Both protocols listen on unix sockets, also where a crash left their files. Sockets do not speak
// TLS, also if the config has it.
func TestSockets(t *testing.T) {
	dir := t.TempDir()
	certs, err := filepath.Abs("internal/config/testdata")
	need.Must(t, err)
	const config = `
listen: unix:http.sock
redis: {listen: unix:redis.sock}
stores: [{name: file, url: ids.db}]
generators: [{name: orders, kind: segment, store: file, create: true}]
`
	var last int64
	for _, more := range []string{"", "tls: {cert: " + certs + "/cert.pem, key: " + certs + "/key.pem}\n"} {
		r := &running{cmd: process(t, dir, "--config", write(t, dir, "c.yaml", config+more))}
		r.begin(t)
		r.beginRedis(t)
		if r.url != "unix:http.sock" || r.redisCommand != "redis-cli -s redis.sock INCR orders" {
			t.Errorf("the server says %s and %s", r.url, r.redisCommand)
		}
		client := dialRedis(t, redis.Options{Network: "unix", Addr: filepath.Join(dir, "redis.sock")})
		id, err := client.Incr(t.Context(), "orders").Result()
		if err != nil || id <= last {
			t.Errorf("order %d after %d, %v", id, last, err)
		}
		last = id
		web := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			return net.Dial("unix", filepath.Join(dir, "http.sock"))
		}}}
		if status, text := get(t, web, "http://localhost/v1/orders"); status != http.StatusOK || text != fmt.Sprintln(last+1) {
			t.Errorf("%d, %q, want %d", status, text, last+1)
		}
		web.CloseIdleConnections()
		r.end(t, os.Kill)
	}
}
