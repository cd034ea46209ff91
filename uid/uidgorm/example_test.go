package uidgorm_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
	"github.com/uidring/uidring/uid/uidgorm"
	"github.com/uidring/uidring/worker/lease"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// An app opens the database with the GORM driver of its choice; this one has
// SQLite. Where services share a database, worker.NewRegistry(db, worker.RegistryConfig{}) numbers them.
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
	check(err)
	defer dbtest.Close(db)

	gen, err := uid.NewCached(context.Background(), lease.NewStatic(7), uid.CachedConfig{})
	check(err)
	defer gen.Close()

	check(db.Use(uidgorm.New(gen, uidgorm.Config{})))
	check(db.AutoMigrate(&Invoice{}, &Line{}))

	invoice := Invoice{Buyer: "ann", Lines: []Line{{Text: "ink"}, {Text: "paper"}}}
	check(db.Create(&invoice).Error)
	parts, err := gen.Parse(invoice.ID)
	check(err)
	fmt.Println("made by worker", parts.Worker)
	fmt.Println("lines refer to it:", invoice.Lines[1].InvoiceID == invoice.ID)
	fmt.Println("in order:", invoice.ID < invoice.Lines[0].ID && invoice.Lines[0].ID < invoice.Lines[1].ID)
	// Output:
	// made by worker 7
	// lines refer to it: true
	// in order: true
}

// Tickets get small numbers from a counter, and all other models ids that carry their
// time. The counter is in memory here; an app has one in its database, of segmentsql.
func ExampleKeys() {
	type Order struct{ ID uid.ID }
	type Ticket struct{ ID uid.ID }

	db, err := dbtest.Open(":memory:")
	check(err)
	defer dbtest.Close(db)
	ctx := context.Background()
	gen, err := uid.NewCached(ctx, lease.NewStatic(7), uid.CachedConfig{})
	check(err)
	defer gen.Close()
	tickets, err := segment.New(ctx, new(segmenttest.Memory), "tickets", segment.Config{Create: true})
	check(err)
	defer tickets.Close()

	check(db.Use(uidgorm.New(gen, uidgorm.Config{Keys: []uidgorm.Keys{{From: tickets, Models: []any{&Ticket{}}}}})))
	check(db.AutoMigrate(&Order{}, &Ticket{}))
	var order Order
	bought := []Ticket{{}, {}}
	check(errors.Join(db.Create(&order).Error, db.Create(&bought).Error))
	parts, err := gen.Parse(order.ID)
	check(err)
	fmt.Println("the order is of worker", parts.Worker)
	fmt.Println("tickets", bought[0].ID, "and", bought[1].ID)
	// Output:
	// the order is of worker 7
	// tickets 1 and 2
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
	check(err)
	defer dbtest.Close(db)

	gen, err := uid.NewDefault(context.Background(), lease.NewStatic(7), uid.DefaultConfig{})
	check(err)
	defer gen.Close()

	check(db.Use(uidgorm.New(gen, uidgorm.Config{})))
	check(db.AutoMigrate(&Ticket{}))

	ticket := map[string]any{"title": "it rains in"}
	check(db.Model(&Ticket{}).Create(ticket).Error)
	fmt.Println("the map has a key:", ticket["id"].(int64) > 0)
	fmt.Println(db.Create(&Mistake{}).Error)
	// Output:
	// the map has a key: true
	// uidgorm: key cannot be filled: uidgorm_test.Mistake.ID gets its value from the database, want autoIncrement:false and no default in its tag
}
