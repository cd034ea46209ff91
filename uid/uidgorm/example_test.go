package uidgorm_test

import (
	"context"
	"fmt"
	"log"

	"github.com/uidring/uidring/internal/dbtest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidgorm"
)

// An app opens the database with the GORM driver of its choice; this one has
// SQLite. Where services share a database, worker.NewRegistry(db) numbers them.
func Example() {
	type Line struct {
		ID        uid.ID
		InvoiceID uid.ID
		Text      string
	}
	type Invoice struct {
		ID    uid.ID
		Buyer string
		Lines []Line
	}

	db, err := dbtest.Open(":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer dbtest.Close(db)

	gen, err := uid.NewCached(context.Background(), uid.StaticWorker(7), uid.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()

	if err := db.Use(uidgorm.New(gen)); err != nil {
		log.Fatal(err)
	}
	if err := db.AutoMigrate(&Invoice{}, &Line{}); err != nil {
		log.Fatal(err)
	}

	invoice := Invoice{Buyer: "ann", Lines: []Line{{Text: "ink"}, {Text: "paper"}}}
	if err := db.Create(&invoice).Error; err != nil {
		log.Fatal(err)
	}
	parts, err := gen.Parse(invoice.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("made by worker", parts.Worker)
	fmt.Println("lines refer to it:", invoice.Lines[1].InvoiceID == invoice.ID)
	fmt.Println("in order:", invoice.ID < invoice.Lines[0].ID && invoice.Lines[0].ID < invoice.Lines[1].ID)
	// Output:
	// made by worker 7
	// lines refer to it: true
	// in order: true
}

// Keys that are integers of another type opt in with a tag. A field that GORM
// would have the database count up is refused instead.
func ExampleNew() {
	type Ticket struct {
		ID    int64 `gorm:"primaryKey;autoIncrement:false;uid"`
		Title string
	}
	type Mistake struct {
		ID    int64 `gorm:"primaryKey;uid"`
		Title string
	}

	db, err := dbtest.Open(":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer dbtest.Close(db)

	gen, err := uid.NewDefault(context.Background(), uid.StaticWorker(7), uid.DefaultConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()

	if err := db.Use(uidgorm.New(gen)); err != nil {
		log.Fatal(err)
	}
	if err := db.AutoMigrate(&Ticket{}); err != nil {
		log.Fatal(err)
	}

	ticket := map[string]any{"title": "it rains in"}
	if err := db.Model(&Ticket{}).Create(ticket).Error; err != nil {
		log.Fatal(err)
	}
	fmt.Println("the map has a key:", ticket["id"].(int64) > 0)
	fmt.Println(db.Create(&Mistake{}).Error)
	// Output:
	// the map has a key: true
	// uidgorm: bad key: uidgorm_test.Mistake.ID gets its value from the database, want autoIncrement:false and no default in its tag
}
