//go:build linux

package torture

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"strings"

	"github.com/go-zookeeper/zk"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"gorm.io/gorm"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentredis"
	"github.com/uidring/uidring/uid/segment/segmentsql"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/workeretcd"
	"github.com/uidring/uidring/worker/workerkube"
	"github.com/uidring/uidring/worker/workerredis"
	"github.com/uidring/uidring/worker/workerzk"
)

// tag is the counter that all processes with a counter use.
const tag = "torture"

// access is a process's open connection to a backend.
type access struct {
	leases   leasestore.Preparer
	counters counters                                  // nil where segments have no store
	rewind   func(ctx context.Context, to int64) error // sets the counter as a restored copy has it
	sql      *gorm.DB                                  // nil without SQL
	kube     *http.Client                              // nil without Kubernetes
	close    func()
}

type counters interface {
	segment.Store
	segment.Returner
	segment.Creator
	segment.Raiser
	segment.Lister
}

var silent = slog.New(slog.DiscardHandler)

// open opens a backend by its URL.
func open(url string) (*access, error) {
	scheme, addresses, _ := strings.Cut(url, "://")
	switch scheme {
	case "etcd":
		return openEtcd(strings.Split(addresses, ","))
	case "redis":
		return openRedis(addresses), nil
	case "kube":
		address, ca, _ := strings.Cut(addresses, " ")
		return openKube(address, ca)
	case "zk":
		return openZooKeeper(strings.Split(addresses, ","))
	}
	return openSQL(url)
}

func openSQL(url string) (*access, error) {
	db, err := dbtest.Open(url)
	if err != nil {
		return nil, err
	}
	return &access{
		leases:   worker.NewStore(db, worker.StoreConfig{}),
		counters: segmentsql.NewLeafAlloc(db, segmentsql.Config{Logger: silent}),
		rewind: func(ctx context.Context, to int64) error {
			return db.WithContext(ctx).Exec("UPDATE leaf_alloc SET max_id = ? WHERE biz_tag = ?", to, tag).Error
		},
		sql:   db,
		close: func() { _ = dbtest.Close(db) },
	}, nil
}

func openEtcd(addresses []string) (*access, error) {
	client, err := clientv3.New(clientv3.Config{Endpoints: addresses, Logger: zap.NewNop()})
	if err != nil {
		return nil, err
	}
	return &access{
		leases: workeretcd.NewStore(client, workeretcd.Config{}),
		close:  func() { _ = client.Close() },
	}, nil
}

func openKube(address, ca string) (*access, error) {
	config := &rest.Config{Host: "https://" + address, BearerToken: servertest.KubeAdmin, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAFile: ca}}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	return &access{
		leases: workerkube.NewStore(config, workerkube.Config{Namespace: "default"}),
		kube:   &http.Client{Transport: transport},
		close:  func() { utilnet.CloseIdleConnectionsFor(transport) },
	}, nil
}

func openRedis(address string) *access {
	logging.Disable()
	client := redis.NewClient(&redis.Options{Addr: address})
	return &access{
		leases:   workerredis.NewStore(client, workerredis.Config{}),
		counters: segmentredis.New(client, segmentredis.Config{Logger: silent}),
		rewind: func(ctx context.Context, to int64) error {
			known := fmt.Sprintf("%d %d 1", to, firstStep)
			return client.Eval(ctx, "redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]); return redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])",
				[]string{segmentredis.DefaultPrefix + ":next", segmentredis.DefaultPrefix + ":tags"}, tag, to, known).Err()
		},
		close: func() { _ = client.Close() },
	}
}

func openZooKeeper(addresses []string) (*access, error) {
	conn, _, err := zk.Connect(addresses, expiry, zk.WithLogger(log.New(io.Discard, "", 0)))
	if err != nil {
		return nil, err
	}
	return &access{
		leases: workerzk.NewStore(conn, workerzk.Config{}),
		close:  conn.Close,
	}, nil
}
