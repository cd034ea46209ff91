//go:build linux

package workerzk_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/internal/test/lifecycle"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
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
	var conns, wires sync.Map // by store, and by its name
	leasetest.Suite{
		Expiry: 200 * time.Millisecond,
		Open: func(*testing.T) leasetest.Opener {
			path, w := newPath(), new(wire)
			wires.Store("ZooKeeper "+path, w)
			return func(t *testing.T) leasestore.Store {
				conn := connect(t, servers, 20*time.Second, w.dial)
				store := prepared(t, conn, path)
				conns.Store(store, conn)
				return store
			}
		},
		Kill: func(t *testing.T, s leasestore.Store) {
			conn, ok := conns.Load(s)
			if !ok {
				t.Fatalf("%v is not a store of this test", s)
			}
			conn.(*zk.Conn).Close()
		},
		Delete: func(t *testing.T, s leasestore.Store, number int64) {
			row := fmt.Sprintf("%s/number/%019d", strings.TrimPrefix(s.String(), "ZooKeeper "), number)
			deletes(t, connect(t, servers, 20*time.Second, nil), row+"/alive", row)
		},
		Requests: func(_ *testing.T, s leasestore.Store) int64 {
			w, _ := wires.Load(s.String())
			return w.(*wire).sent.Load()
		},
	}.Run(t)
}

// A user with the documented permissions and no others, also on the parent, can do all that a service does.
func TestPermissions(t *testing.T) {
	servers, parent := shared(t), fmt.Sprintf("/ids-%d", paths.Add(1))
	acl := zk.DigestACL(workerzk.Perms, "ids", "secret")
	_, err := ready(t, connect(t, servers, time.Minute, nil)).Create(parent, nil, 0, acl)
	need.Must(t, err)
	conn := ready(t, connect(t, servers, time.Minute, nil))
	config := workerzk.Config{Path: parent + "/workers", ACL: acl}
	_, _, err = conn.Children(parent)
	need.Error(t, err, zk.ErrNoAuth)
	need.Error(t, workerzk.NewStore(conn, config).Prepare(t.Context(), slog.Default()), zk.ErrNoAuth, "the user needs cdrw on the node and its parent")
	need.Must(t, conn.AddAuth("digest", []byte("ids:secret")))
	lifecycle.Run(t, func(c lease.Config) *lease.Leaser { return lease.New(workerzk.NewStore(conn, config), c) })
}
