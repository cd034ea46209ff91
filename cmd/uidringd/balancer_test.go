//go:build linux

package main

import (
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	redigo "github.com/gomodule/redigo/redis"
	"github.com/redis/go-redis/v9"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	uidringv1 "github.com/uidring/uidring/cmd/uidringd/proto/uidring/v1"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
)

// balanced starts haproxy before two servers, of which the second gets connections once the first is
// down, and returns the addresses of HTTP and of the Redis protocol.
func balanced(t *testing.T, first, second *running) (web, redis string) {
	t.Helper()
	free := servertest.Addresses(t, 2)
	web, redis = free[0], free[1]
	const part = `
listen %s
  bind %s
  %s
  default-server inter 300ms fall 2 rise 2
  server first %s check
  server second %s check backup
`
	config := "defaults\n  mode tcp\n  timeout connect 1s\n  timeout client 1m\n  timeout server 1m\n" +
		fmt.Sprintf(part, "web", web, "option httpchk GET /readyz", first.address(), second.address()) +
		fmt.Sprintf(part, "redis", redis, "option redis-check", first.redisAddress, second.redisAddress)
	cmd := exec.Command(servertest.Find(t, "haproxy"), "-db", "-f", write(t, t.TempDir(), "haproxy.cfg", config))
	need.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return web, redis
}

// A server that stops behind a balancer of TCP serves until the balancer has noticed. A pool of one
// Redis connection, which neither probes nor tries again, loses one command at most. Clients of HTTP
// and gRPC lose none.
func TestStopBehindBalancer(t *testing.T) {
	const config = `
generators: [{name: ids, kind: slots, worker: "static:%d", ids_per_s: -1}]
shutdown: {delay: 2s}
log: {requests_per_s: 0}
`
	first, second := startConfig(t, fmt.Sprintf(config, 1)), startConfig(t, fmt.Sprintf(config, 2))
	web, at := balanced(t, first, second)

	pool := &redigo.Pool{MaxIdle: 1, MaxActive: 1, Wait: true, Dial: func() (redigo.Conn, error) { return redigo.Dial("tcp", at) }}
	defer pool.Close()
	once := dialRedis(t, redis.Options{Addr: at, PoolSize: 1, MaxRetries: -1})
	retrying := dialRedis(t, redis.Options{Addr: at, PoolSize: 1})
	called, err := grpc.NewClient(web, grpc.WithTransportCredentials(insecure.NewCredentials()))
	need.Must(t, err)
	defer called.Close()
	asked := &http.Client{Transport: new(http.Transport)}
	defer asked.CloseIdleConnections()
	clients := []struct {
		name  string
		lost  int64 // at most
		draw  func() error
		drawn atomic.Int64
		fails atomic.Int64
	}{
		{name: "redigo", lost: 1, draw: func() error {
			conn := pool.Get()
			defer conn.Close()
			_, err := redigo.Int64(conn.Do("INCR", "ids"))
			return err
		}},
		{name: "go-redis without retries", lost: 1, draw: func() error { return once.Incr(t.Context(), "ids").Err() }},
		{name: "go-redis", draw: func() error { return retrying.Incr(t.Context(), "ids").Err() }},
		{name: "gRPC", draw: func() error {
			return called.Invoke(t.Context(), "/uidring.v1.IdService/Next", &uidringv1.NextRequest{Name: "ids"}, new(uidringv1.NextResponse))
		}},
		{name: "HTTP", draw: func() error {
			answer, err := asked.Get("http://" + web + "/v1/ids")
			if err != nil {
				return err
			}
			answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				return errors.New(answer.Status)
			}
			return nil
		}},
	}
	for i := range clients {
		servertest.Eventually(t, clients[i].name+" is served", func() bool { return clients[i].draw() == nil })
	}
	enough := make(chan struct{})
	var drawing sync.WaitGroup
	for i := range clients {
		c := &clients[i]
		drawing.Go(func() {
			for {
				select {
				case <-enough:
					return
				case <-time.After(time.Millisecond):
				}
				if err := c.draw(); err != nil {
					c.fails.Add(1)
					t.Logf("%s: %v", c.name, err)
				} else {
					c.drawn.Add(1)
				}
			}
		})
	}
	if code := first.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d: %s", code, &first.log)
	}
	for i := range clients {
		c := &clients[i]
		already := c.drawn.Load()
		servertest.Eventually(t, c.name+" draws from the second server", func() bool { return c.drawn.Load() > already+10 })
	}
	close(enough)
	drawing.Wait()
	for i := range clients {
		if c := &clients[i]; c.fails.Load() > c.lost {
			t.Errorf("%s lost %d of %d calls, want %d at most", c.name, c.fails.Load(), c.drawn.Load(), c.lost)
		}
	}
}
