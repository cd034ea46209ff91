package workeretcd_test

import (
	"context"
	"fmt"
	"log"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/workeretcd"
)

func Example() {
	client, err := clientv3.New(clientv3.Config{
		Endpoints:   []string{"etcd-0:2379", "etcd-1:2379", "etcd-2:2379"},
		DialOptions: workeretcd.DialOptions(),
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
