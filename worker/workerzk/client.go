package workerzk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/internal/guard"
	"github.com/uidring/uidring/worker/lease"
)

// client makes requests that end when their context ends. Requests of zk.Conn do not.
type client struct {
	conn *zk.Conn
	acl  []zk.ACL // of nodes that are created
}

// conflict reports whether err says that a write's condition did not hold.
func conflict(err error) bool {
	return errors.Is(err, zk.ErrBadVersion) || errors.Is(err, zk.ErrNodeExists) || errors.Is(err, zk.ErrNoNode)
}

// await waits for a session, and fails if the client has no server twice: after a lost
// connection it says so once before it tries any. A read shows both. It may be queued
// without a session; a write would be sent long after its caller has gone.
func (c client) await(ctx context.Context) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	for tries := 0; c.conn.State() != zk.StateHasSession; tries++ {
		if tries == 2 {
			return err
		}
		_, err = guard.Await(ctx, "workerzk", "zk.Conn", func() (exists bool, err error) {
			exists, _, err = c.conn.Exists("/")
			return exists, err
		})
		if ctx.Err() != nil {
			return fmt.Errorf("%w: the connection is in state %v", ctx.Err(), c.conn.State())
		}
	}
	return nil
}

// do makes a request. If no server can be reached, do fails when all were tried.
func do[T any](ctx context.Context, c client, doing, path string, request func() (T, error)) (value T, err error) {
	fail := func(err error) error {
		return fmt.Errorf("workerzk: %s %s at %s: %w", doing, path, cmp.Or(c.conn.Server(), "no server"), err)
	}
	if err := c.await(ctx); err != nil {
		return value, fail(err)
	}
	value, err = guard.Await(ctx, "workerzk", "zk.Conn", request)
	switch {
	case err == nil:
		return value, nil
	case passes(err):
		return value, lease.Transient(fail(err))
	}
	return value, fail(err)
}

// passes reports whether a failed request may succeed on another connection or session.
func passes(err error) bool {
	for _, passing := range []error{zk.ErrConnectionClosed, zk.ErrSessionExpired, zk.ErrSessionMoved, zk.ErrNoServer} {
		if errors.Is(err, passing) {
			return true
		}
	}
	_, network := errors.AsType[*net.OpError](err)
	return network
}

// node is a node's data and facts.
type node struct {
	data []byte
	stat *zk.Stat
}

// get returns a node, nil if there is none.
func (c client) get(ctx context.Context, path string) (*node, error) {
	found, err := do(ctx, c, "get", path, func() (*node, error) {
		data, stat, err := c.conn.Get(path)
		return &node{data, stat}, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	return found, err
}

// create makes a node, and returns its path.
func (c client) create(ctx context.Context, path string, data []byte, flags int32) (string, error) {
	return do(ctx, c, "create", path, func() (string, error) { return c.conn.Create(path, data, flags, c.acl) })
}

// prepare makes the nodes on the way to path, and path itself.
func (c client) prepare(ctx context.Context, path string) error {
	if found, err := c.get(ctx, path); found != nil || err != nil {
		return err
	}
	for i := 1; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			continue
		}
		if _, err := c.create(ctx, path[:i], nil, 0); err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
	}
	return nil
}

// names returns the names of a node's children, none if there is no node.
func (c client) names(ctx context.Context, path string) ([]string, error) {
	names, err := do(ctx, c, "list", path, func() ([]string, error) {
		names, _, err := c.conn.Children(path)
		return names, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	return names, err
}

// atOnce is how many nodes are got at a time.
const atOnce = 16

// all gets children of a node. A child that is gone is nil.
func (c client) all(ctx context.Context, path string, names []string) ([]*node, error) {
	nodes, errs := make([]*node, len(names)), make([]error, len(names))
	var getting sync.WaitGroup
	free := make(chan struct{}, atOnce)
	for i, name := range names {
		free <- struct{}{}
		getting.Go(func() {
			nodes[i], errs[i] = c.get(ctx, path+"/"+name)
			<-free
		})
	}
	getting.Wait()
	return nodes, cmp.Or(errs...)
}

// multi makes all of the writes, or none.
func (c client) multi(ctx context.Context, path string, ops ...any) error {
	_, err := do(ctx, c, "write", path, func() ([]zk.MultiResponse, error) { return c.conn.Multi(ops...) })
	return err
}

// fence makes later reads see all earlier writes, by a write without effect that a
// majority confirms. A server may lag behind the leader, and ZooKeeper's sync does not
// notice a leader that was replaced and does not know it yet.
func (c client) fence(ctx context.Context, path string) error {
	err := c.multi(ctx, path, &zk.CheckVersionRequest{Path: path, Version: -1})
	if errors.Is(err, zk.ErrNoNode) {
		return nil // a majority has said so
	}
	return err
}
