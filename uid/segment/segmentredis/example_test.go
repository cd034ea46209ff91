package segmentredis_test

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentredis"
)

func Example() {
	ctx := context.Background()
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379"})
	defer client.Close()

	gen, err := segment.New(ctx, segmentredis.New(client, segmentredis.Config{}), "orders", segment.Config{})
	if err != nil {
		fmt.Println(err) // such as segment.ErrUnknownTag
		return
	}
	defer gen.Close() // returns what was not used
	fmt.Println(gen.Next())
}

// The counter is made once, by an operator.
func ExampleStore_Create() {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379"})
	defer client.Close()

	err := segmentredis.New(client, segmentredis.Config{}).Create(context.Background(), "orders", 1, segment.DefaultStep)
	fmt.Println(err)
}
