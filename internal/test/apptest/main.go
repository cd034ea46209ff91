// Command apptest is an app that links the library as a service does, and no SQL
// driver. Its test says which modules such an app gains.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"gorm.io/gorm"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

func main() {
	db, err := gorm.Open(nil) // a service passes the dialector of its database
	if err != nil {
		log.Fatal(err)
	}
	var numbers uid.Leaser = worker.NewRegistry(db, worker.RegistryConfig{})
	if len(os.Args) > 1 {
		numbers = lease.Forever(worker.StatefulSet())
	}
	gen, err := uid.NewCached(context.Background(), numbers, uid.CachedConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()
	fmt.Println(gen.Next())
}
