package padding_test

import (
	"fmt"

	"github.com/uidring/uidring/padding"
	"github.com/uidring/uidring/ringbuffer"
)

func Example() {
	ring, err := ringbuffer.New(ringbuffer.Config{Runs: 2, RunLen: 4, Threshold: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	next := int64(0)
	executor, err := padding.New(ring, func() (ringbuffer.Run, error) {
		run := ringbuffer.Run{First: next, N: 4}
		next += 100
		return run, nil
	}, padding.Config{Schedule: "@every 1m"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer executor.Close()
	if err := executor.Fill(); err != nil {
		fmt.Println(err)
		return
	}
	executor.Start()

	fmt.Println(ring.TakeRun(4), ring.TakeRun(4))
	// Output: {0 4} {100 4}
}
