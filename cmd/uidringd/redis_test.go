//go:build linux

package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/internal/test/need"
)

// Without a config, the server goes on if the port of the Redis protocol is taken, and says so.
func TestRedisPortTaken(t *testing.T) {
	if taken, err := net.Listen("tcp", "127.0.0.1:6380"); err == nil { // else another process has it, which does as well
		defer taken.Close()
	}
	r := &running{cmd: process(t, t.TempDir(), "--listen", "127.0.0.1:0")}
	r.begin(t)
	r.serves(t, "/v1/orders")
	clitest.Wants(t, r.log.String(), "the Redis protocol is not served: another process uses its port")
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
