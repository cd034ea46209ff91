//go:build linux

package workerzk_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

var paths atomic.Int64

// newPath returns a node of the test's own, which is not there.
func newPath() string { return fmt.Sprintf("/uidring-test/ä-%d/workers", paths.Add(1)) }

// TestStore: the store does what package lease needs. Holders are alive as long as
// their session.
func TestStore(t *testing.T) {
	servers := shared(t)
	var conns, wires sync.Map // by store, and by its name
	leasetest.Suite{
		Expiry: 200 * time.Millisecond,
		Open: func(*testing.T) leasetest.Opener {
			path, w := newPath(), new(wire)
			wires.Store("ZooKeeper "+path, w)
			return func(t *testing.T) lease.Store {
				conn := connect(t, servers, 20*time.Second, w.dial)
				store := prepared(t, conn, path)
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
		Delete: func(t *testing.T, s lease.Store, number int64) {
			row := fmt.Sprintf("%s/number/%019d", strings.TrimPrefix(s.String(), "ZooKeeper "), number)
			deletes(t, connect(t, servers, 20*time.Second, nil), row+"/alive", row)
		},
		Requests: func(_ *testing.T, s lease.Store) int64 {
			w, _ := wires.Load(s.String())
			return w.(*wire).sent.Load()
		},
	}.Run(t)
}
