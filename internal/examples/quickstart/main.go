// Command quickstart is README.md's program, whole.
package main

import (
	"context"
	"fmt"
	"log"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	_ "modernc.org/sqlite" // needs no C compiler

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

func main() {
	ctx := context.Background()
	db, err := gorm.Open(sqlite.New(sqlite.Config{
		DriverName: "sqlite",
		DSN:        "file:app.db?_pragma=busy_timeout(10000)&_txlock=immediate",
	}), &gorm.Config{})
	if err != nil {
		log.Fatal(err)
	}

	gen, err := uid.NewCached(ctx, worker.NewLeaser(db, lease.Config{}), uid.CachedConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()

	id, err := gen.Next()
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println("worker", gen.Worker(), "makes ids:", id > 0)
}
