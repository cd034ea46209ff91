package worker_test

import (
	"context"
	"fmt"
	"log"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// Each start gets the next number. An app opens the database with the GORM
// driver of its choice; this one has SQLite.
func ExampleNewRegistry() {
	db := open(":memory:")
	defer dbtest.Close(db)

	registry := worker.NewRegistry(db, worker.RegistryConfig{})
	for range 2 {
		number, err := registry.Assign(context.Background(), 1<<22-1)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("worker", number)
	}
	// Output:
	// worker 1
	// worker 2
}

// The rows tell who took which number.
func ExampleRegistry_Nodes() {
	db := open(":memory:")
	defer dbtest.Close(db)

	registry := worker.NewRegistry(db, worker.RegistryConfig{Node: lease.Node{Host: "billing-7", Port: "8080", Type: lease.NodeContainer}})
	if _, err := registry.Assign(context.Background(), 1<<22-1); err != nil {
		log.Fatal(err)
	}
	rows, err := registry.Nodes(context.Background(), 10)
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range rows {
		fmt.Println(row.ID, row.HostName, row.Port, row.Type)
	}
	// Output:
	// 1 billing-7 8080 CONTAINER
}

func open(url string) *gorm.DB {
	db, err := dbtest.Open(url)
	if err != nil {
		log.Fatal(err)
	}
	return db
}
