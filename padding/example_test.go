package padding_test

import (
	"context"
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
	executor := padding.New(ring, func(context.Context) (ringbuffer.Run, error) {
		run := ringbuffer.Run{First: next, N: 4}
		next += 100
		return run, nil
	}, padding.Config{})
	defer executor.Close()
	if err := executor.Fill(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	executor.Start()

	fmt.Println(ring.TakeRun(4), ring.TakeRun(4))
	// Output: {0 4} {100 4}
}
