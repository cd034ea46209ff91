//go:build linux

package workeretcd_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/uidring/uidring/internal/servertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/workeretcd"
)

// connect returns a client of members. It logs nothing.
func connect(t *testing.T, members ...*servertest.Etcd) *clientv3.Client {
	client, err := clientv3.New(clientv3.Config{Endpoints: servertest.Endpoints(members), Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// holding is a number that is held, and all that was granted with it.
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

func (h *holding) now() lease.Grant {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.grants[len(h.grants)-1]
}

// kept fails if the number was ever lost.
func (h *holding) kept(t *testing.T) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, g := range h.grants {
		if !g.Held {
			t.Errorf("the number was lost: %v", g.Err)
		}
	}
}

// lost waits until a grant reports the loss of a number, and returns why.
func (h *holding) lost(t *testing.T) (err error) {
	t.Helper()
	servertest.Eventually(t, "the loss is noticed", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		i := slices.IndexFunc(h.grants, func(g lease.Grant) bool { return !g.Held })
		if i >= 0 {
			err = h.grants[i].Err
		}
		return i >= 0
	})
	return err
}

// renewed waits until more is reserved.
func (h *holding) renewed(t *testing.T) {
	t.Helper()
	until := h.now().Until
	h.Use(until, until)
	servertest.Eventually(t, "more is reserved", func() bool { g := h.now(); return g.Until.After(until) && g.Err == nil })
}

// take takes a number, by a holder that looks at its row often.
func take(t *testing.T, client *clientv3.Client, opts ...lease.Option) *holding {
	t.Helper()
	h := new(holding)
	var err error
	h.Lease, err = workeretcd.New(client, append([]lease.Option{
		lease.WithExpiry(400 * time.Millisecond), lease.WithLogger(slog.New(slog.DiscardHandler)),
		lease.WithNode(lease.Node{Host: "billing-7", Port: "8080", Type: lease.NodeActual}),
	}, opts...)...).Lease(t.Context(), 1023, time.Now, h.granted)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		_ = h.Release(ended, time.Now())
	})
	return h
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
