//go:build linux

package fleet

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/uidring/uidring/cmd/uidringd/internal/redisclients"
	"github.com/uidring/uidring/uid"
)

// socket returns where the server of an address or URL serves the Redis protocol.
func socket(address string) string {
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(address, "http://"))
	return filepath.Join(dir, port+".sock")
}

// installed are the clients of other languages.
var installed = sync.OnceValues(func() ([]redisclients.Client, error) {
	return redisclients.Install(context.Background(), filepath.Join(dir, "clients"))
})

// redisKinds are the clients of the Redis protocol. They ask by the servers' sockets.
func redisKinds(t *testing.T, timeout time.Duration) []kind {
	all := []kind{{name: "Redis, Go", timeout: timeout, open: func(t *testing.T, _ string, servers []string, generator string) draw {
		return openRedis(t, servers, generator, timeout)
	}}}
	clients, err := installed()
	if err != nil {
		t.Fatal(err)
	}
	for _, client := range clients {
		all = append(all, script(client, timeout))
	}
	return all
}

// script is a client of another language. One process draws from all generators, each time
// by a random command.
func script(client redisclients.Client, timeout time.Duration) kind {
	var process *redisclients.Process
	open := func(t *testing.T, _ string, servers []string, generator string) draw {
		if process == nil {
			var sockets []string
			for _, server := range servers {
				sockets = append(sockets, socket(server))
			}
			process = client.Start(t, sockets, "", timeout)
		}
		return func(_ context.Context, n int) ([]uid.ID, error) {
			command := []string{"incr", "get", "pipeline", "incrby"}[rand.IntN(4)]
			return process.Draw(command, generator, n)
		}
	}
	return kind{name: "Redis, " + client.Name, calls: 20, pause: 10 * time.Millisecond, timeout: timeout, missing: client.Missing, open: open}
}

// openRedis has a pool whose connections lead to any of the servers that listens.
func openRedis(t *testing.T, servers []string, generator string, timeout time.Duration) draw {
	client := redis.NewClient(&redis.Options{
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		ReadTimeout:              timeout,
		Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var faults []error
			for _, i := range rand.Perm(len(servers)) {
				conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", socket(servers[i]))
				if err == nil {
					return conn, nil
				}
				faults = append(faults, err)
			}
			return nil, errors.Join(faults...)
		},
	})
	t.Cleanup(func() { _ = client.Close() })
	return func(ctx context.Context, n int) ([]uid.ID, error) {
		drawn, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for range n {
				p.Incr(ctx, generator)
			}
			return nil
		})
		var ids []uid.ID
		for _, cmd := range drawn {
			if cmd.Err() == nil {
				ids = append(ids, uid.ID(cmd.(*redis.IntCmd).Val()))
			}
		}
		return ids, err
	}
}
