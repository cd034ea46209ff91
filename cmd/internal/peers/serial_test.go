package main

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bwmarrin/snowflake"
	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"

	"github.com/uidring/uidring/internal/contention"
	"github.com/uidring/uidring/uid"
)

// The loops of one goroutine. As of Go 1.26, b.Loop keeps the results of a call alive, by a
// store to the stack, and lets the compiler inline the call. go tool objdump shows the loop of
// add as one LOCK XADD, and that of Cached's Next inlined down to its LOCK XADD, two loads and a comparison.

func BenchmarkNext(b *testing.B) {
	b.Run("impl=add", func(b *testing.B) {
		counter := new(contention.Int64)
		for b.Loop() {
			counter.Add(1)
		}
	})
	b.Run("impl=called-add", func(b *testing.B) {
		counter := new(contention.Int64)
		for b.Loop() {
			if _, err := calledAdd(counter); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("impl=time.Since", func(b *testing.B) {
		began := time.Now()
		for b.Loop() {
			time.Since(began)
		}
	})
	b.Run("impl=time.Now", func(b *testing.B) {
		for b.Loop() {
			time.Now()
		}
	})
	b.Run("impl=Cached", func(b *testing.B) {
		gen := cached(b)
		for b.Loop() {
			if _, err := gen.Next(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("impl=Default", func(b *testing.B) {
		gen := newDefault(b)
		for b.Loop() {
			if _, err := gen.Next(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("impl=Slots", func(b *testing.B) {
		gen := slots(b)
		for b.Loop() {
			if _, err := gen.Next(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("impl=Segment", func(b *testing.B) {
		gen := counter(b)
		for b.Loop() {
			if _, err := gen.Next(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("impl=Client", func(b *testing.B) {
		gen := client(b)
		for b.Loop() {
			if _, err := gen.Next(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("impl=uuid.NewV7", func(b *testing.B) {
		for b.Loop() {
			if _, err := uuid.NewV7(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("impl=uuid.NewRandom", func(b *testing.B) {
		for b.Loop() {
			if _, err := uuid.NewRandom(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("impl=ulid.Make", func(b *testing.B) {
		for b.Loop() {
			ulid.Make()
		}
	})
	b.Run("impl=xid.New", func(b *testing.B) {
		for b.Loop() {
			xid.New()
		}
	})
	b.Run("impl=snowflake", func(b *testing.B) {
		node := must(snowflake.NewNode(1))
		for b.Loop() {
			node.Generate()
		}
	})
	b.Run("impl=sonyflake", func(b *testing.B) {
		flake := newSonyflake()
		for b.Loop() {
			if _, err := flake.NextID(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("impl=mutex", func(b *testing.B) {
		var mu sync.Mutex
		last := 0
		for b.Loop() {
			mu.Lock()
			last++
			mu.Unlock()
		}
	})
}

func BenchmarkWait(b *testing.B) {
	b.Run("impl=Cached", func(b *testing.B) {
		gen, ctx := cached(b), context.Background()
		for b.Loop() {
			if _, err := gen.Wait(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkNextN(b *testing.B) {
	for _, n := range batches {
		ids := make([]uid.ID, n)
		b.Run(fmt.Sprintf("n=%d/impl=fill", n), func(b *testing.B) {
			counter := new(contention.Int64)
			for b.Loop() {
				fill(counter, ids)
			}
		})
		b.Run(fmt.Sprintf("n=%d/impl=Cached", n), func(b *testing.B) {
			gen := cached(b)
			for b.Loop() {
				if _, err := gen.NextN(ids); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAll(b *testing.B) {
	b.Run("impl=Cached", func(b *testing.B) {
		for _, err := range cached(b).All(context.Background()) {
			if err != nil {
				b.Fatal(err)
			}
			if !b.Loop() {
				break
			}
		}
	})
}
