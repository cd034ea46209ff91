package main

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bwmarrin/snowflake"
	"github.com/google/uuid"
	"github.com/rs/xid"

	"github.com/uidring/uidring/cmd/internal/bench"
	"github.com/uidring/uidring/internal/contention"
	"github.com/uidring/uidring/uid"
)

// The loops of as many goroutines as -cpu says, on one generator. pb.Next counts down a number of
// the goroutine's own.

func BenchmarkNextParallel(b *testing.B) {
	b.Run("impl=add", bench.AddParallel)
	b.Run("impl=called-add", func(b *testing.B) {
		counter := new(contention.Int64)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				must(calledAdd(counter))
			}
		})
	})
	b.Run("impl=time.Since", func(b *testing.B) {
		began := time.Now()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				time.Since(began)
			}
		})
	})
	b.Run("impl=time.Now", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				_ = time.Now()
			}
		})
	})
	b.Run("impl=Cached", func(b *testing.B) { bench.CachedParallel(b, cached(b)) })
	b.Run("impl=Default", func(b *testing.B) { bench.DefaultParallel(b, newDefault(b)) })
	b.Run("impl=Slots", func(b *testing.B) {
		gen := slots(b)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				must(gen.Next())
			}
		})
	})
	b.Run("impl=Segment", func(b *testing.B) {
		gen := counter(b)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				must(gen.Next())
			}
		})
	})
	b.Run("impl=Client", func(b *testing.B) {
		gen := client(b)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				must(gen.Next())
			}
		})
	})
	b.Run("impl=uuid.NewV7", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				must(uuid.NewV7())
			}
		})
	})
	b.Run("impl=xid.New", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				xid.New()
			}
		})
	})
	b.Run("impl=snowflake", func(b *testing.B) {
		node := must(snowflake.NewNode(1))
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				node.Generate()
			}
		})
	})
	b.Run("impl=mutex", func(b *testing.B) {
		var mu sync.Mutex
		last := 0
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				mu.Lock()
				last++
				mu.Unlock()
			}
		})
	})
}

func BenchmarkWaitParallel(b *testing.B) {
	b.Run("impl=Cached", func(b *testing.B) {
		gen, ctx := cached(b), context.Background()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				must(gen.Wait(ctx))
			}
		})
	})
}

func BenchmarkNextNParallel(b *testing.B) {
	for _, n := range batches {
		b.Run(fmt.Sprintf("n=%d/impl=fill", n), func(b *testing.B) {
			counter := new(contention.Int64)
			b.RunParallel(func(pb *testing.PB) {
				ids := make([]uid.ID, n)
				for pb.Next() {
					fill(counter, ids)
				}
			})
		})
		b.Run(fmt.Sprintf("n=%d/impl=Cached", n), func(b *testing.B) { bench.CachedNextNParallel(b, cached(b), n) })
	}
}

func BenchmarkAllParallel(b *testing.B) {
	b.Run(fmt.Sprintf("n=%d/impl=Cached", bench.Batch), func(b *testing.B) {
		gen := cached(b)
		b.RunParallel(func(pb *testing.PB) {
			n := 0
			for id, err := range gen.All(context.Background()) {
				must(id, err)
				if n++; n%bench.Batch == 0 && !pb.Next() {
					return
				}
			}
		})
	})
}
