package workerzk

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/go-zookeeper/zk"

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
	for range 2 {
		if c.conn.State() == zk.StateHasSession {
			return nil
		}
		answered := make(chan error, 1)
		go func() {
			_, _, err := c.conn.Exists("/")
			answered <- err
		}()
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: the connection is in state %v", ctx.Err(), c.conn.State())
		case err = <-answered:
		}
	}
	if c.conn.State() == zk.StateHasSession {
		return nil
	}
	return err
}

// do makes a request. If no server can be reached, do fails when all were tried.
func do[T any](ctx context.Context, c client, doing, path string, request func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	fail := func(err error) error {
		return fmt.Errorf("workerzk: %s %s at %s: %w", doing, path, c.server(), err)
	}
	if err := ctx.Err(); err != nil {
		return none, fail(err)
	}
	if err := c.await(ctx); err != nil {
		return none, fail(err)
	}
	answered := make(chan answer, 1)
	go func() {
		value, err := request()
		answered <- answer{value, err}
	}()
	select {
	case <-ctx.Done():
		return none, fail(ctx.Err())
	case a := <-answered:
		var network *net.OpError
		switch {
		case a.err == nil:
			return a.value, nil
		case errors.Is(a.err, zk.ErrConnectionClosed), errors.Is(a.err, zk.ErrSessionExpired), errors.Is(a.err, zk.ErrSessionMoved),
			errors.Is(a.err, zk.ErrNoServer), errors.As(a.err, &network):
			return none, lease.Transient(fail(a.err))
		}
		return none, fail(a.err)
	}
}

// server is the present or the last server of the connection.
func (c client) server() string {
	if server := c.conn.Server(); server != "" {
		return server
	}
	return "no server"
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

// set writes a node's data if it has the version; -1 is any.
func (c client) set(ctx context.Context, path string, data []byte, version int32) (*zk.Stat, error) {
	return do(ctx, c, "set", path, func() (*zk.Stat, error) { return c.conn.Set(path, data, version) })
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

// all gets children of a node, and leaves out those that are gone.
func (c client) all(ctx context.Context, path string, names []string) (map[string]node, error) {
	var (
		mu     sync.Mutex
		found  = map[string]node{}
		failed error
		wg     sync.WaitGroup
		next   = make(chan string)
	)
	for range min(atOnce, len(names)) {
		wg.Go(func() {
			for name := range next {
				n, err := c.get(ctx, path+"/"+name)
				mu.Lock()
				if err != nil {
					failed = err
				} else if n != nil {
					found[name] = *n
				}
				mu.Unlock()
			}
		})
	}
	for _, name := range names {
		next <- name
	}
	close(next)
	wg.Wait()
	return found, failed
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
