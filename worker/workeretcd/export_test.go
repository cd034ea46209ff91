package workeretcd

import (
	"context"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Wait waits for a key as an insert does that has read a revision.
func Wait(ctx context.Context, client *clientv3.Client, told string, revision int64) (*mvccpb.KeyValue, error) {
	return queue{store: NewStore(client, Config{}).(*store), told: told}.wait(ctx, revision)
}
