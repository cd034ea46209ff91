//go:build linux

package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	redigo "github.com/gomodule/redigo/redis"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	uidringv1 "github.com/uidring/uidring/cmd/uidringd/proto/uidring/v1"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
)

// balance starts a balancer with the sample of a config before servers, at free addresses. Each pair is what
// the sample has, and what it has here.
func balance(t *testing.T, program, sample string, args []string, pairs ...string) {
	t.Helper()
	text, err := os.ReadFile("deploy/" + sample)
	need.Must(t, err)
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(string(text), pairs[i]) {
			t.Fatalf("%s has no %q", sample, pairs[i])
		}
	}
	dir := t.TempDir()
	path := write(t, dir, sample, strings.NewReplacer(pairs...).Replace(string(text)))
	cmd := exec.Command(servertest.Find(t, program), append(args, path)...)
	cmd.Dir = dir
	need.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
}

// The samples of haproxy and nginx are right: a server that stops behind them serves until the balancer has
// noticed. A pool of one Redis connection, which neither probes nor tries again, loses one command at most.
// Clients of HTTP and gRPC lose none.
func TestStopBehindBalancer(t *testing.T) {
	t.Run("haproxy", func(t *testing.T) {
		first, second := balanced(t, 1), balanced(t, 2)
		free := servertest.Addresses(t, 2)
		balance(t, "haproxy", "haproxy.cfg", []string{"-db", "-f"}, "bind :8080", "bind "+free[0], "bind :6380", "bind "+free[1],
			"10.0.0.1:8080", first.address(), "10.0.0.2:8080", second.address()+" backup", "10.0.0.1:6380", first.redisAddress, "10.0.0.2:6380", second.redisAddress+" backup")
		stopBehind(t, first, free[0], free[0], free[1])
	})
	t.Run("nginx", func(t *testing.T) {
		first, second := balanced(t, 1), balanced(t, 2)
		free := servertest.Addresses(t, 2)
		dir := t.TempDir()
		paths := "pid " + dir + "/pid; daemon off; error_log stderr;\nhttp {\n"
		for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
			paths += kind + "_temp_path " + dir + "/" + kind + ";\n"
		}
		balance(t, "nginx", "nginx.conf", []string{"-p", dir, "-e", "stderr", "-c"}, "\nhttp {\n", "\n"+paths+"access_log off;\n",
			"listen 8080", "listen "+free[0], "listen 8081", "listen "+free[1], "10.0.0.1:8080", first.address(), "10.0.0.2:8080", second.address())
		stopBehind(t, first, free[0], free[1], "")
	})
}

// balanced starts a server for a balancer.
func balanced(t *testing.T, number int) *running {
	t.Helper()
	return startConfig(t, fmt.Sprintf("generators: [{name: ids, kind: slots, worker: \"static:%d\", ids_per_s: -1}]\nshutdown: {delay: 5s}\nlog: {requests_per_s: 0}\n", number))
}

// stopBehind stops the first of two servers behind a balancer while clients draw. The balancer has addresses
// for HTTP, for gRPC and, unless at is "", for the Redis protocol.
func stopBehind(t *testing.T, first *running, web, calls, at string) {
	t.Helper()
	pool := &redigo.Pool{MaxIdle: 1, MaxActive: 1, Wait: true, Dial: func() (redigo.Conn, error) { return redigo.Dial("tcp", at) }}
	defer pool.Close()
	once := dialRedis(t, redis.Options{Addr: at, PoolSize: 1, MaxRetries: -1})
	retrying := dialRedis(t, redis.Options{Addr: at, PoolSize: 1})
	called, err := grpc.NewClient(calls, grpc.WithTransportCredentials(insecure.NewCredentials()))
	need.Must(t, err)
	defer called.Close()
	var piped rueidis.Client
	if at != "" {
		servertest.Eventually(t, "rueidis", func() bool {
			piped, err = rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{at}, DisableCache: true, PipelineMultiplex: -1, ForceSingleClient: true})
			return err == nil
		})
		defer piped.Close()
	}
	asked := &http.Client{Transport: new(http.Transport)}
	defer asked.CloseIdleConnections()
	clients := []*client{
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
	if at != "" {
		clients = append(clients, []*client{
			{name: "redigo", lost: 1, draw: func() error { return incr(pool, "ids") }},
			{name: "go-redis without retries", lost: 1, draw: func() error { return once.Incr(t.Context(), "ids").Err() }},
			{name: "go-redis", draw: func() error { return retrying.Incr(t.Context(), "ids").Err() }},
			{name: "rueidis", lost: 1, draw: func() error {
				return piped.Do(t.Context(), piped.B().Incr().Key("ids").Build()).Error()
			}},
		}...)
	}
	enough := make(chan struct{})
	var drawing sync.WaitGroup
	for _, c := range clients {
		servertest.Eventually(t, c.name+" is served", func() bool { return c.draw() == nil })
	}
	for _, c := range clients {
		drawing.Go(func() { c.run(t, enough) })
	}
	first.stop(t)
	for _, c := range clients {
		already := c.drawn.Load()
		servertest.Eventually(t, c.name+" draws from the second server", func() bool { return c.drawn.Load() > already+10 })
	}
	close(enough)
	drawing.Wait()
	for _, c := range clients {
		c.done(t)
	}
}
