//go:build linux

package fleet

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/uidring/uidring/uid"
)

// socket returns where the server of an address serves the Redis protocol.
func socket(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return filepath.Join(dir, port+".sock")
}

// openRedis has a pool whose connections lead to any of the servers that listens.
func openRedis(t *testing.T, servers []string, generator string, timeout time.Duration) draw {
	client := redis.NewClient(&redis.Options{
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		ReadTimeout:              timeout,
		Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var faults []error
			for _, i := range rand.Perm(len(servers)) {
				at, err := url.Parse(servers[i])
				if err != nil {
					return nil, err
				}
				conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", socket(at.Host))
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
