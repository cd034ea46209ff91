package worker_test

import (
	"context"
	"fmt"
	"log"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// A generator holds its number until it is closed. Then the number is free, for
// others to go on from where its ids ended.
func ExampleNewLeaser() {
	db := open(":memory:")
	defer dbtest.Close(db)

	leaser := worker.NewLeaser(db, lease.Config{})
	state := func() lease.State {
		rows, err := leaser.Leases(context.Background(), 1)
		if err != nil {
			log.Fatal(err)
		}
		return rows[0].State
	}
	gen, err := uid.NewCached(context.Background(), leaser, uid.CachedConfig{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("worker", gen.Worker(), state())
	if err := gen.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("worker", gen.Worker(), state())
	// Output:
	// worker 1 held
	// worker 1 free
}

// Leases in a table of one's own, which migrations create.
func ExampleNewStore() {
	db := open(":memory:")
	defer dbtest.Close(db)
	ctx := context.Background()

	store := worker.NewStore(db, worker.StoreConfig{Prefix: "billing_", NoSchema: true})
	if err := store.EnsureSchema(ctx); err != nil { // a migration's part
		log.Fatal(err)
	}
	leaser := lease.New(store, lease.Config{Node: lease.Node{Host: "billing-7", Port: "8080", Type: lease.NodeContainer}})
	gen, err := uid.NewCached(ctx, leaser, uid.CachedConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()
	infos, err := leaser.Leases(ctx, 10)
	if err != nil {
		log.Fatal(err)
	}
	for _, info := range infos {
		fmt.Println(info.Number, info.State, info.Host, info.Type)
	}
	// Output: 1 held billing-7 CONTAINER
}
