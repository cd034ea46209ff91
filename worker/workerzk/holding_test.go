//go:build linux

package workerzk_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/workerzk"
)

// prepared is a store whose nodes are there.
func prepared(t *testing.T, conn *zk.Conn, path string) *workerzk.Store {
	t.Helper()
	store := workerzk.NewStore(ready(t, conn), path)
	if err := store.Prepare(background(t), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	return store
}

var here = lease.Node{Host: "here", Port: "1", Type: lease.NodeActual}

func insert(number int64, token string) lease.Write {
	return lease.Write{Number: number, Token: token, Until: 100, Change: lease.Acquire, Node: here,
		Expiry: time.Minute, Within: lease.Bounds{To: 99}, Fresh: true}
}

// holding is a generator's side of a lease.
type holding struct {
	lease.Lease
	mu     sync.Mutex
	grants []lease.Grant
}

func (h *holding) granted(g lease.Grant) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.grants = append(h.grants, g)
}

func (h *holding) last() lease.Grant {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.grants[len(h.grants)-1]
}

// lost reports whether a grant was taken away with an error that matches target.
func (h *holding) lost(target error) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, g := range h.grants {
		if !g.Held && errors.Is(g.Err, target) {
			return true
		}
	}
	return false
}

func hold(t *testing.T, store lease.Store, limit int64, opts ...lease.Option) *holding {
	t.Helper()
	h := new(holding)
	opts = append([]lease.Option{lease.WithNode(here), lease.WithExpiry(200 * time.Millisecond), lease.WithWindow(time.Hour),
		lease.WithLogger(slog.New(slog.DiscardHandler))}, opts...)
	var err error
	if h.Lease, err = lease.New(store, opts...).Lease(background(t), limit, time.Now, h.granted); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Release(background(t), time.Now()) })
	return h
}

// number is a lease.Assigner.
type number int64

func (n number) Assign(context.Context, int64) (int64, error) { return int64(n), nil }
