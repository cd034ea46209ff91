package workerzk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/internal/calls"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

func conflict(err error) bool {
	return errors.Is(err, zk.ErrBadVersion) || errors.Is(err, zk.ErrNodeExists) || errors.Is(err, zk.ErrNoNode)
}

// await waits for a session, and fails if the client has no server twice: after a lost
// connection it says so once before it tries any. A read shows both. It may be queued
// without a session; a write would be sent long after its caller has gone.
func (s *store) await(ctx context.Context) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	for tries := 0; s.conn.State() != zk.StateHasSession; tries++ {
		if tries == 2 {
			return err
		}
		_, err = calls.Await(ctx, "workerzk", "zk.Conn", func() (exists bool, err error) {
			exists, _, err = s.conn.Exists("/")
			return exists, err
		})
		if ctx.Err() != nil {
			return fmt.Errorf("%w: the connection is in state %v", ctx.Err(), s.conn.State())
		}
	}
	return nil
}

// do makes a request that ends when ctx is done; requests of zk.Conn do not.
func do[T any](ctx context.Context, s *store, doing, path string, request func() (T, error)) (value T, err error) {
	fail := func(err error) error {
		return fmt.Errorf("workerzk: %s %s at %s: %w", doing, path, cmp.Or(s.conn.Server(), "no server"), err)
	}
	if err := s.await(ctx); err != nil {
		return value, fail(err)
	}
	value, err = calls.Await(ctx, "workerzk", "zk.Conn", request)
	switch {
	case err == nil:
		return value, nil
	case errors.Is(err, zk.ErrNoAuth):
		return value, fmt.Errorf("%w; the user needs %s on the node and its parent, as \"uidringd schema zookeeper\" prints", fail(err), ACL())
	case passes(err):
		return value, leasestore.Transient(fail(err))
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

type node struct {
	data []byte
	stat *zk.Stat
}

// get returns a node, nil if there is none.
func (s *store) get(ctx context.Context, path string) (*node, error) {
	found, err := do(ctx, s, "get", path, func() (*node, error) {
		data, stat, err := s.conn.Get(path)
		return &node{data, stat}, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	return found, err
}

func (s *store) create(ctx context.Context, path string, flags int32) (string, error) {
	return do(ctx, s, "create", path, func() (string, error) { return s.conn.Create(path, nil, flags, s.acl) })
}

func (s *store) delete(ctx context.Context, path string) error {
	_, err := do(ctx, s, "delete", path, func() (struct{}, error) { return struct{}{}, s.conn.Delete(path, -1) })
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

func (s *store) prepare(ctx context.Context, path string) error {
	if found, err := s.get(ctx, path); found != nil || err != nil {
		return err
	}
	for i := 1; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			continue
		}
		if _, err := s.create(ctx, path[:i], 0); err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
	}
	return nil
}

func (s *store) names(ctx context.Context, path string) ([]string, error) {
	names, err := do(ctx, s, "list", path, func() ([]string, error) {
		names, _, err := s.conn.Children(path)
		return names, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	return names, err
}

func (s *store) multi(ctx context.Context, path string, ops ...any) error {
	_, err := do(ctx, s, "write", path, func() ([]zk.MultiResponse, error) { return s.conn.Multi(ops...) })
	return err
}

// fence makes later reads see all earlier writes, by a write without effect that a
// majority confirms. A server may lag behind the leader, and ZooKeeper's sync does not
// notice a leader that was replaced and does not know it yet.
func (s *store) fence(ctx context.Context, path string) error {
	err := s.multi(ctx, path, &zk.CheckVersionRequest{Path: path, Version: -1})
	if errors.Is(err, zk.ErrNoNode) {
		return nil // a majority has said so
	}
	return err
}
