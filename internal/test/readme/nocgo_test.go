//go:build !cgo

package readme

import (
	"context"
	"fmt"
	"log"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	_ "modernc.org/sqlite"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
)

func Example_withoutCgo() {
	db, err := gorm.Open(sqlite.New(sqlite.Config{
		DriverName: "sqlite",
		DSN:        "file:app.db?_pragma=busy_timeout(10000)&_txlock=immediate",
	}), &gorm.Config{})
	if err != nil {
		log.Fatal(err)
	}
	gen, err := uid.NewCached(context.Background(), worker.NewRegistry(db, worker.RegistryConfig{}), uid.CachedConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()
	fmt.Println("worker", gen.Worker())
	// Output: worker 1
}
