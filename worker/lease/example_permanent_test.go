package lease_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

// A number from a configuration file, which no other process has. One that the
// layout cannot hold is refused at the start.
func ExampleNewStatic() {
	gen, err := uid.NewCached(context.Background(), lease.NewStatic(7), uid.CachedConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()
	fmt.Println("worker", gen.Worker())

	_, err = uid.NewCached(context.Background(), lease.NewStatic(65536), uid.CachedConfig{})
	fmt.Println(err)
	// Output:
	// worker 7
	// uid: invalid config: worker number is 65536, want 0 to 65535, the greatest that the layout can hold
}

// A pod of a StatefulSet holds the number at the end of its name, and nobody else
// does as long as it lives.
func ExampleNewStatefulSet() {
	os.Setenv("POD_NAME", "billing-7") // as a manifest would
	defer os.Unsetenv("POD_NAME")
	store := new(leasetest.Memory) // stands for a store such as that of workeretcd
	leaser := lease.New(store, lease.Config{Assigner: lease.NewStatefulSet()})
	gen, err := uid.NewCached(context.Background(), leaser, uid.CachedConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()
	fmt.Println("worker", gen.Worker())

	// The start of a second pod waits until the first one dies or sends a heartbeat.
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, err = uid.NewCached(ctx, leaser, uid.CachedConfig{})
	fmt.Println("a second pod of that name:", errors.Is(err, lease.ErrHeld))
	// Output:
	// worker 7
	// a second pod of that name: true
}
