package lease_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

// A site has two numbers of its own. A third process finds none left, until one of the
// others gives its number back.
func ExampleNew() {
	ctx := context.Background()
	store := new(leasetest.Memory) // stands for a store such as that of workeretcd
	leaser := lease.New(store, lease.Config{Numbers: &lease.Range{From: 10, To: 11}})

	first, err := uid.NewDefault(ctx, leaser, uid.DefaultConfig{})
	if err != nil {
		log.Fatal(err)
	}
	second, err := uid.NewDefault(ctx, leaser, uid.DefaultConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer second.Close()
	fmt.Println("workers", first.Worker(), second.Worker())

	_, err = uid.NewDefault(ctx, leaser, uid.DefaultConfig{})
	if exhausted, ok := errors.AsType[*lease.ExhaustedError](err); ok {
		fmt.Println(exhausted.Held, "are held, the greatest may be", exhausted.Max)
	}
	first.Close()
	third, err := uid.NewDefault(ctx, leaser, uid.DefaultConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer third.Close()
	fmt.Println("worker", third.Worker())
	// Output:
	// workers 10 11
	// 2 are held, the greatest may be 11
	// worker 10
}

// After a change of the layout, a generator reads the ids of the new layout alone. The store
// knows the layouts of earlier ids.
func ExampleLeaser_PlanLayout() {
	ctx := context.Background()
	leaser := lease.New(new(leasetest.Memory), lease.Config{})
	old, err := uid.NewDefault(ctx, leaser, uid.DefaultConfig{})
	if err != nil {
		log.Fatal(err)
	}
	id, err := old.Next()
	if err != nil {
		log.Fatal(err)
	}
	old.Close()
	if _, err := leaser.ChangeLayout(ctx, bits.LongLived()); err != nil {
		log.Fatal(err)
	}
	gen, err := uid.NewDefault(ctx, leaser, uid.DefaultConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()

	_, err = gen.Parse(id)
	fmt.Println("of this layout:", !errors.Is(err, bits.ErrForeign))
	plan, err := leaser.PlanLayout(ctx, gen.Layout()) // which changes nothing
	if err != nil {
		log.Fatal(err)
	}
	for _, earlier := range plan.Earlier {
		allocator, err := bits.NewAllocator(earlier.Layout)
		if err != nil {
			log.Fatal(err)
		}
		parts, err := allocator.Parse(int64(id))
		if err == nil && earlier.Numbers.From <= parts.Worker && parts.Worker <= earlier.Numbers.To {
			fmt.Println("worker", parts.Worker, "of", earlier.Layout)
		}
	}
	// Output:
	// of this layout: false
	// worker 0 of 31/16/16,epoch=2026-01-01,unit=1s
}

// A store has ids of one layout. A start with another one fails, and writes nothing.
func ExampleLayoutError() {
	ctx := context.Background()
	leaser := lease.New(new(leasetest.Memory), lease.Config{})
	gen, err := uid.NewDefault(ctx, leaser, uid.DefaultConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()

	_, err = uid.NewDefault(ctx, leaser, uid.DefaultConfig{Layout: bits.Snowflake()})
	if layout, ok := errors.AsType[*lease.LayoutError](err); ok {
		fmt.Println("asked for ", layout.Layout)
		fmt.Println("remembered", layout.Remembered)
	}
	// Output:
	// asked for  41/10/12,epoch=2010-11-04T01:42:54.657Z,unit=1ms
	// remembered 31/16/16,epoch=2026-01-01,unit=1s
}

// racks gives each process the number of its place in the racks, which no other has.
type racks struct{ rack, slot int64 }

func (r racks) Assign(_ context.Context, limit int64) (int64, error) {
	if number := r.rack*100 + r.slot; number <= limit {
		return number, nil
	}
	return 0, fmt.Errorf("rack %d has no number up to %d", r.rack, limit)
}

// Numbers that are given for good need no store.
func ExampleNewPermanent() {
	gen, err := uid.NewDefault(context.Background(), lease.NewPermanent(racks{rack: 3, slot: 17}), uid.DefaultConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()
	fmt.Println("worker", gen.Worker())
	// Output: worker 317
}
