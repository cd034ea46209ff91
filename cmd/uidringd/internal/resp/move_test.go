//go:build linux

package resp_test

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/uidring/uidring/cmd/uidringd/internal/resp"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
)

// TestMove moves a counter from a real Redis as REDIS.md says, one client after the other, while
// all draw. No id repeats, and a client that was forgotten fails.
func TestMove(t *testing.T) {
	const distance = 1_000_000_000
	connect := func(address string) *redis.Client {
		client := redis.NewClient(&redis.Options{Addr: address, MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}})
		t.Cleanup(func() { client.Close() })
		return client
	}
	old := connect(servertest.StartRedis(t).Address())

	var (
		targets [4]atomic.Pointer[redis.Client]
		drawn   [4]atomic.Int64
		seen    sync.Map
		drawing sync.WaitGroup
		stop    atomic.Bool
	)
	for i := range targets {
		targets[i].Store(old)
		drawing.Go(func() {
			for !stop.Load() {
				id, err := targets[i].Load().Incr(t.Context(), "orders").Result()
				if _, twice := seen.LoadOrStore(id, true); twice || err != nil {
					t.Errorf("id %d, twice: %t, %v", id, twice, err)
					return
				}
				drawn[i].Add(1)
			}
		})
	}
	wait := func() { // for ten more ids of each client
		t.Helper()
		for i := range drawn {
			before := drawn[i].Load()
			servertest.Eventually(t, "ten ids more", func() bool { return drawn[i].Load() >= before+10 })
		}
	}
	wait()

	last, err := old.Get(t.Context(), "orders").Int64()
	if err != nil {
		t.Fatal(err)
	}
	store := new(segmenttest.Memory)
	if err := store.Create(t.Context(), "orders", last+distance, 0); err != nil {
		t.Fatal(err)
	}
	counter, err := segment.New(t.Context(), store, "orders", segment.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer counter.Close()
	s := serve(t, service.Config{}, resp.Config{})
	s.all["orders"] = &service.Entry{Name: "orders", Kind: "segment", Claimer: counter, MaxIDs: 1000, Instance: "moved"}
	moved := connect(s.listener.Addr().String())
	for i := range targets {
		targets[i].Store(moved)
		wait()
	}
	stop.Store(true)
	drawing.Wait()
	before, err := old.SetArgs(t.Context(), "orders", "moved to uidringd", redis.SetArgs{Get: true}).Result()
	if err != nil {
		t.Fatal(err)
	}
	final, err := strconv.ParseInt(before, 10, 64)
	if err != nil || final >= last+distance {
		t.Errorf("Redis counted to %d, %v, and uidringd began at %d", final, err, last+distance)
	}
	if err := old.Incr(t.Context(), "orders").Err(); err == nil || !strings.Contains(err.Error(), "not an integer") {
		t.Errorf("a client that was forgotten gets %v, want an error", err)
	}
}
