package ringbuffer_test

import (
	"fmt"
	"log"

	"github.com/uidring/uidring/ringbuffer"
)

func Example() {
	ring, err := ringbuffer.New(ringbuffer.Config{Runs: 2, RunLen: 4})
	if err != nil {
		log.Fatal(err)
	}
	for _, first := range []int64{100, 200} {
		if err := ring.Put(ringbuffer.Run{First: first, N: 4}); err != nil {
			fmt.Println(err)
			return
		}
	}
	id, err := ring.Take()
	fmt.Println(id, err)
	fmt.Println(ring.TakeRun(10)) // the rest of the run
	fmt.Println(ring.TakeRun(2))
	fmt.Println(ring.Remaining())
	// Output:
	// 100 <nil>
	// {101 3}
	// {200 2}
	// 2
}

// A ring for the ids of 8 ticks with 1,024 each, which asks to be filled when half
// of them are dealt. All that is wrong with a config is reported at once.
func ExampleNew() {
	ring, err := ringbuffer.New(ringbuffer.Config{Runs: 8, RunLen: 1024, Threshold: 4096})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ring.Capacity(), ring.Remaining())
	_, err = ring.Take()
	fmt.Println(err)

	_, err = ringbuffer.New(ringbuffer.Config{Runs: 3, RunLen: -1, Threshold: -1})
	fmt.Println(err)
	// Output:
	// 8192 0
	// ringbuffer: empty
	// ringbuffer: invalid config: Runs is 3, want a power of two from 1 to 1048576
	// ringbuffer: invalid config: RunLen is -1, want a power of two, whose product with Runs is at most 4611686018427387904
	// ringbuffer: invalid config: Threshold is -1, want 0 or more
}
