package workerzk

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// LeafStore is the store of a Leaser of Leaf, which assigns its number too.
func LeafStore(conn *zk.Conn, name string, port int, config LeafConfig) interface {
	leasestore.Store
	lease.Assigner
	leasestore.Preparer
} {
	return newLeaf(conn, name, port, config)
}

// Failed returns what a method returns if ZooKeeper's client returns err.
func Failed(ctx context.Context, conn *zk.Conn, err error) error {
	_, failed := do(ctx, &Store{conn: conn}, "get", "/", func() (struct{}, error) { return struct{}{}, err })
	return failed
}
