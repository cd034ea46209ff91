package workeretcd_test

import (
	"context"
	"fmt"
	"log"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/workeretcd"
)

func Example() {
	client, err := clientv3.New(clientv3.Config{
		Endpoints:            []string{"etcd-0:2379", "etcd-1:2379", "etcd-2:2379"},
		DialKeepAliveTime:    10 * time.Second, // gives up a connection that a network dropped silently
		DialKeepAliveTimeout: 5 * time.Second,
		DialOptions: []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{ // by default, pauses grow to 2 minutes
			MinConnectTimeout: 5 * time.Second,
			Backoff:           backoff.Config{BaseDelay: time.Second, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 3 * time.Second},
		})},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	gen, err := uid.NewCached(context.Background(), workeretcd.NewLeaser(client, lease.Config{}), uid.CachedConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close() // before the client: it gives the number back
	id, err := gen.Next()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(id)
}
