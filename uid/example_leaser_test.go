package uid_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// A number from a configuration file, which no other process has. One that the
// layout cannot hold is refused at the start.
func ExampleStaticWorker() {
	gen, err := uid.NewCached(context.Background(), uid.StaticWorker(7), uid.CachedConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	fmt.Println("worker", gen.Worker())

	_, err = uid.NewCached(context.Background(), uid.StaticWorker(1024), uid.CachedConfig{Layout: bits.Snowflake()})
	fmt.Println(err)
	// Output:
	// worker 7
	// uid: worker number out of range: worker number is 1024, want 0 to 1023, the greatest that the layout can hold
}

// inventory stands for what an organisation has that numbers its processes.
type inventory map[string]int64

// number is a lease.Assigner that looks a process up.
type number struct {
	inventory inventory
	process   string
}

func (n number) Assign(_ context.Context, limit int64) (int64, error) {
	got, ok := n.inventory[n.process]
	if !ok || got > limit {
		return 0, fmt.Errorf("%s has no number from 0 to %d", n.process, limit)
	}
	return got, nil
}

// Numbers can come from anywhere, as long as no two processes have the same.
func ExampleLeaser() {
	numbers := inventory{"billing-a": 1, "billing-b": 2}
	gen, err := uid.NewDefault(context.Background(), lease.Forever(number{numbers, "billing-b"}), uid.DefaultConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	fmt.Println("worker", gen.Worker())

	_, err = uid.NewDefault(context.Background(), lease.Forever(number{numbers, "billing-c"}), uid.DefaultConfig{})
	fmt.Println(err)
	// Output:
	// worker 2
	// billing-c has no number from 0 to 4194303
}

// A caller that would rather wait for an id than fail says for how long.
func ExampleCached_Wait() {
	gen, err := uid.NewCached(context.Background(), uid.StaticWorker(7), uid.CachedConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background()) // or a request's
	defer cancel()

	id, err := gen.Wait(ctx)
	fmt.Println(id > 0, err)

	gen.Close() // ends what waits
	_, err = gen.Wait(ctx)
	fmt.Println(errors.Is(err, uid.ErrClosed))
	// Output:
	// true <nil>
	// true
}
