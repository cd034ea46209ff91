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

// The loops of one goroutine. b.Loop keeps the result of each call alive, by a store to the stack.
//
// The binary of go test -c, by Go 1.26.8 for amd64, was read by go tool objdump -s 'Benchmark|Parallel':
// no closure and no interface stands between a loop of this module and what it measures. b.Loop,
// pb.Next and must are inlined, and so are the floor add, which is one LOCK XADD, and Next of Cached, Segment
// and Client, which are the LOCK XADD, four loads and a comparison. All the others are direct calls.

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
			must(calledAdd(counter))
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
			must(gen.Next())
		}
	})
	b.Run("impl=Default", func(b *testing.B) {
		gen := newDefault(b)
		for b.Loop() {
			must(gen.Next())
		}
	})
	b.Run("impl=Slots", func(b *testing.B) {
		gen := slots(b)
		for b.Loop() {
			must(gen.Next())
		}
	})
	b.Run("impl=Segment", func(b *testing.B) {
		gen := counter(b)
		for b.Loop() {
			must(gen.Next())
		}
	})
	b.Run("impl=Client", func(b *testing.B) {
		gen := client(b)
		for b.Loop() {
			must(gen.Next())
		}
	})
	b.Run("impl=uuid.NewV7", func(b *testing.B) {
		for b.Loop() {
			must(uuid.NewV7())
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
			must(gen.Wait(ctx))
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
				must(gen.NextN(ids))
			}
		})
	}
}

// BenchmarkAll asks b.Loop once for many ids, because its counter costs more than an id of All.
func BenchmarkAll(b *testing.B) {
	b.Run(fmt.Sprintf("n=%d/impl=Cached", bench.Batch), func(b *testing.B) {
		n := 0
		for id, err := range cached(b).All(context.Background()) {
			must(id, err)
			if n++; n%bench.Batch == 0 && !b.Loop() {
				return
			}
		}
	})
}
