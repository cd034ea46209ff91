package segment_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
)

// A store in memory stands for segmentsql or segmentredis in these examples.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

func ExampleNew() {
	ctx := context.Background()
	store := new(segmenttest.Memory)
	check(store.Create(ctx, "orders", 1, segment.DefaultStep)) // once, by an operator

	for range 2 { // starts of a process
		gen, err := segment.New(ctx, store, "orders", segment.Config{})
		check(err)
		first, err := gen.Next()
		check(err)
		second, err := gen.Next()
		check(err)
		fmt.Println(first, second)
		check(gen.Close()) // returns what is not used
	}
	// Output:
	// 1 2
	// 3 4
}

// JSON has an id as a string, since JavaScript reads greater numbers wrongly.
func ExampleNew_json() {
	gen, err := segment.New(context.Background(), new(segmenttest.Memory), "orders", segment.Config{Create: true})
	check(err)
	defer gen.Close()
	id, err := gen.Next()
	check(err)
	order, err := json.Marshal(map[string]any{"id": id, "number": int64(id)})
	fmt.Println(string(order), err)
	// Output: {"id":"1","number":1} <nil>
}

func ExampleConfig() {
	config := segment.Config{
		Ahead: time.Hour, // ids last nearly that long while the store is unavailable
		Limit: 1<<53 - 1, // the greatest number that JavaScript reads
		Step:  -1,        // wrong
	}
	_, err := segment.New(context.Background(), new(segmenttest.Memory), "orders", config)
	fmt.Println(errors.Is(err, uid.ErrConfig))
	// Output: true
}

func ExampleNewTags() {
	ctx := context.Background()
	store := new(segmenttest.Memory)
	check(store.Create(ctx, "orders", 1, 100))
	check(store.Create(ctx, "users", 5000, 100))
	tags, err := segment.NewTags(store, segment.TagsConfig{})
	check(err)
	defer tags.Close()
	for _, tag := range []string{"orders", "users", "orders", "oders"} {
		id, err := tags.Next(ctx, tag)
		fmt.Println(id, err)
	}
	// Output:
	// 1 <nil>
	// 5000 <nil>
	// 2 <nil>
	// 0 segment: unknown tag: "oders" in memory
}

// The counter lives in two stores, one of which may be unavailable.
func ExampleNewStriped() {
	ctx := context.Background()
	stores := []segment.Store{new(segmenttest.Memory), new(segmenttest.Memory)}
	gen, err := segment.NewStriped(ctx, stores, "orders", segment.StripedConfig{Config: segment.Config{Create: true}})
	check(err)
	defer gen.Close()
	id, err := gen.Next()
	check(err)
	fmt.Println(id == 1 || id == 1001) // of the first store, or of the second
	// Output: true
}

// After a restore, an operator raises the counter above the highest id in use.
func ExampleRaiser() {
	ctx := context.Background()
	store := new(segmenttest.Memory)
	check(store.Create(ctx, "orders", 1, 1000)) // as the backup has it
	next, err := store.Raise(ctx, "orders", 250_001)
	fmt.Println(next, err)
	// Output: 250001 <nil>
}

// A deployment makes its counters, and may run again.
func ExampleCreator() {
	ctx := context.Background()
	store := new(segmenttest.Memory)
	for _, tag := range []string{"orders", "users", "orders"} {
		err := store.Create(ctx, tag, 1, segment.DefaultStep)
		fmt.Println(tag, err, errors.Is(err, segment.ErrTagExists))
	}
	// Output:
	// orders <nil> false
	// users <nil> false
	// orders segment: tag exists: "orders" true
}

// offline is a store that no request reaches.
type offline struct{ segment.Store }

func (offline) Reserve(context.Context, string, int64) (first, count int64, err error) {
	return 0, 0, errors.New("connection refused")
}

// The store is unavailable when ids are needed. A service answers 503 with a Retry-After.
func ExampleLoadError() {
	ctx := context.Background()
	store := new(segmenttest.Memory)
	check(store.Create(ctx, "orders", 1, segment.DefaultStep))
	tags, err := segment.NewTags(offline{store}, segment.TagsConfig{})
	check(err)
	defer tags.Close()
	_, err = tags.Next(ctx, "orders")
	if load, ok := errors.AsType[*segment.LoadError](err); ok {
		fmt.Println(load)
		fmt.Println("Retry-After:", load.RetryAfter() > 0)
	}
	// Output:
	// segment: store is unavailable: reserve ids of "orders" from memory: connection refused
	// Retry-After: true
}
