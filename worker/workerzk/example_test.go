package workerzk_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/go-zookeeper/zk"

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
