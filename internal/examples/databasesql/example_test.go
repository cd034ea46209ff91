// Package databasesql is an example of ids with database/sql. A uid.ID is a parameter
// and a scan target of every driver, since it has the methods Value and Scan. The worker
// number is leased on the app's own pool: a GORM handle opened on the pool is all that
// the leaser needs, and the app uses no GORM itself.
package databasesql_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	_ "modernc.org/sqlite"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

func Example() {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection would have a memory of its own
	ctx := context.Background()
	if _, err := db.ExecContext(ctx, "CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY, parent BIGINT, buyer TEXT)"); err != nil {
		log.Fatal(err)
	}

	onPool, err := gorm.Open(sqlite.New(sqlite.Config{Conn: db}), &gorm.Config{})
	if err != nil {
		log.Fatal(err)
	}
	gen, err := uid.NewCached(ctx, worker.NewLeaser(onPool, lease.Config{}), uid.CachedConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()

	id, err := gen.Next()
	if err != nil {
		log.Fatal(err)
	}
	if _, err := db.ExecContext(ctx, "INSERT INTO orders (id, buyer) VALUES (?, ?)", id, "ann"); err != nil {
		log.Fatal(err)
	}

	var read uid.ID
	var parent sql.Null[uid.ID] // a column that may be NULL
	if err := db.QueryRowContext(ctx, "SELECT id, parent FROM orders WHERE id = ?", id).Scan(&read, &parent); err != nil {
		log.Fatal(err)
	}
	fmt.Println(read == id, parent.Valid)
	fmt.Println("leased worker number:", gen.Worker())
	// Output:
	// true false
	// leased worker number: 1
}
