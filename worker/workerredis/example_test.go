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
	gen, err := uid.NewCached(context.Background(), workerredis.NewLeaser(client, lease.Config{}), uid.CachedConfig{})
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
