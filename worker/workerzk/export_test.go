package workerzk

import (
	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/worker/lease"
)

// LeafStore is the store of a Leaser of Leaf, which assigns its number too.
func LeafStore(conn *zk.Conn, name string, port int, config LeafConfig) interface {
	lease.Store
	lease.Assigner
	lease.Preparer
} {
	return newLeaf(conn, name, port, config)
}
