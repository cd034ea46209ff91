// Package databasesql is an example of ids with database/sql alone. A uid.ID is a
// parameter and a scan target of every driver, since it has the methods Value and
// Scan.
package databasesql_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"

	_ "modernc.org/sqlite"

	"github.com/uidring/uidring/uid"
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

	gen, err := uid.NewCached(ctx, uid.StaticWorker(7), uid.Config{})
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
	// Output: true false
}
