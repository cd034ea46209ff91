//go:build linux

package workeretcd_test

import (
	"log/slog"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/internal/holding"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/workeretcd"
)

// connect returns a client of members. It logs nothing.
func connect(t *testing.T, members ...*servertest.Etcd) *clientv3.Client {
	client, err := clientv3.New(clientv3.Config{Endpoints: servertest.Endpoints(members), Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// take takes a number, by a holder that looks at its row often.
func take(t *testing.T, client *clientv3.Client, opts ...lease.Config) *holding.Holder {
	t.Helper()
	return holding.Take(t, workeretcd.New(client, holding.Merge(append([]lease.Config{{Expiry: 400 * time.Millisecond, Logger: slog.New(slog.DiscardHandler), Node: lease.Node{Host: "billing-7", Port: "8080", Type: lease.NodeActual}}}, opts...)...)), 1023)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
