//go:build linux

package workerredis_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/workerredis"
)

func TestBadInput(t *testing.T) {
	var none *redis.Client
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	defer client.Close()
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": "127.0.0.1:1"}, HeartbeatFrequency: time.Hour})
	defer ring.Close()
	for _, test := range []struct {
		client redis.UniversalClient
		prefix string
		want   string
	}{
		{none, "{a}", "client is nil"},
		{ring, "{a}", "client is a *redis.Ring"},
		{client, "workers", `Prefix is "workers"`},
	} {
		config := workerredis.Config{Prefix: test.prefix}
		err := workerredis.NewStore(test.client, config).Check()
		need.Error(t, err, lease.ErrConfig, "workerredis: invalid config: "+test.want)
		if wrong := config.Validate(); errors.Is(wrong, lease.ErrConfig) != strings.HasPrefix(test.want, "Prefix") {
			t.Errorf("%q: %v", test.prefix, wrong)
		}
	}
}

// Servers that refuse connections are an error with the store and the cause. The start
// does not retry for half a minute.
func TestUnavailable(t *testing.T) {
	addresses := []string{"127.0.0.1:1", "127.0.0.1:2"}
	for name, client := range map[string]redis.UniversalClient{
		"server":    redis.NewClient(&redis.Options{Addr: addresses[0]}),
		"cluster":   redis.NewClusterClient(&redis.ClusterOptions{Addrs: addresses}),
		"Sentinels": redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "m", SentinelAddrs: addresses, DialerRetries: 1}),
	} {
		t.Run(name, func(t *testing.T) {
			defer client.Close()
			var out logged.Text
			need.Error(t, workerredis.NewStore(client, workerredis.Config{}).Prepare(t.Context(), out.Logger()), nil, "refused")
			began := time.Now()
			_, err := workerredis.NewLeaser(client, lease.Config{Logger: out.Logger()}).Lease(t.Context(), request)
			t.Logf("refused after %v", time.Since(began))
			if out.String() != "" {
				t.Errorf("logged %s", &out)
			}
			if need.Error(t, err, nil, "redis "+workerredis.DefaultPrefix, "refused"); errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v; want it at once", err)
			}
		})
	}
}
