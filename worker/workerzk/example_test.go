package workerzk_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/workerzk"
)

func ExampleNew() {
	ctx := context.Background()
	conn, _, err := zk.Connect([]string{"zk-1:2181", "zk-2:2181", "zk-3:2181"}, 10*time.Second, zk.WithHostProvider(new(workerzk.Hosts)))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	gen, err := uid.NewCached(ctx, workerzk.NewLeaser(conn, lease.Config{Window: 5 * time.Minute}), uid.CachedConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()
	id, err := gen.Wait(ctx)
	fmt.Println(id, err)
}

// The nodes and numbers of Meituan's Leaf, shared with services in Java.
func ExampleNewLeaf() {
	ctx := context.Background()
	conn, _, err := zk.Connect([]string{"zk-1:2181", "zk-2:2181", "zk-3:2181"}, 10*time.Second, zk.WithHostProvider(new(workerzk.Hosts)))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	leaser := workerzk.NewLeaf(conn, "orders", 8080, workerzk.LeafConfig{})
	gen, err := uid.NewDefault(ctx, leaser, uid.DefaultConfig{Layout: bits.Snowflake()})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()
	id, err := gen.Wait(ctx)
	fmt.Println(id, err)
}
