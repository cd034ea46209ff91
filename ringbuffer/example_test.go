package ringbuffer_test

import (
	"fmt"

	"github.com/uidring/uidring/ringbuffer"
)

func Example() {
	ring, err := ringbuffer.New(ringbuffer.Config{Runs: 2, RunLen: 4})
	if err != nil {
		fmt.Println(err)
		return
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
