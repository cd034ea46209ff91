package workerredis_test

import (
	"context"
	"fmt"
	"log"

	"github.com/redis/go-redis/v9"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/workerredis"
)

func Example() {
	client := redis.NewClient(&redis.Options{Addr: "redis:6379"})
	defer client.Close()
	gen, err := uid.NewCached(context.Background(), workerredis.New(client, lease.Config{}), uid.CachedConfig{})
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

// Two systems on one Redis have a prefix each: their ids may be equal.
func ExampleNewStore() {
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"redis-0:6379", "redis-1:6379"}})
	defer client.Close()
	leaser := lease.New(workerredis.NewStore(client, workerredis.Config{Prefix: "{billing}:workers"}), lease.Config{})
	infos, err := leaser.Leases(context.Background(), 10)
	if err != nil {
		log.Fatal(err)
	}
	for _, info := range infos {
		fmt.Println(info.Number, info.State, info.Host)
	}
}
