package workerzk

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// Failed returns what a method returns if ZooKeeper's client returns err.
func Failed(ctx context.Context, conn *zk.Conn, err error) error {
	_, failed := do(ctx, &store{conn: conn}, "get", "/", func() (struct{}, error) { return struct{}{}, err })
	return failed
}
