//go:build linux

package workerzk_test

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasetest"
	"github.com/uidring/uidring/worker/workerzk"
)

var paths atomic.Int64

// newPath returns a node of the test's own, which is not there.
func newPath() string { return fmt.Sprintf("/uidring-test/ä-%d/workers", paths.Add(1)) }

// TestStore: the store does what package lease needs. Holders are alive as long as
// their session.
func TestStore(t *testing.T) {
	servers := shared(t)
	var conns sync.Map
	leasetest.Suite{
		Expiry: 200 * time.Millisecond,
		Open: func(*testing.T) leasetest.Opener {
			path := newPath()
			return func(t *testing.T) lease.Store {
				conn := ready(t, connect(t, servers, 20*time.Second, nil))
				store := workerzk.NewStore(conn, workerzk.Config{Path: path})
				if err := store.Prepare(background(t), slog.New(slog.DiscardHandler)); err != nil {
					t.Error(err)
				}
				conns.Store(store, conn)
				return store
			}
		},
		Kill: func(t *testing.T, s lease.Store) {
			conn, ok := conns.Load(s)
			if !ok {
				t.Fatalf("%v is not a store of this test", s)
			}
			conn.(*zk.Conn).Close()
		},
	}.Run(t)
}
