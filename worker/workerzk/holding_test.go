//go:build linux

package workerzk_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/internal/holding"
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

func hold(t *testing.T, store lease.Store, limit int64, opts ...lease.Option) *holding.Holder {
	t.Helper()
	return holding.Take(t, lease.New(store, append([]lease.Option{lease.WithNode(here), lease.WithExpiry(200 * time.Millisecond),
		lease.WithWindow(time.Hour), lease.WithLogger(slog.New(slog.DiscardHandler))}, opts...)...), limit)
}
