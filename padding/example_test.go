package padding_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/uidring/uidring/padding"
	"github.com/uidring/uidring/ringbuffer"
)

func Example() {
	ring, err := ringbuffer.New(ringbuffer.Config{Runs: 2, RunLen: 4, Threshold: 4})
	if err != nil {
		log.Fatal(err)
	}
	next := int64(0)
	executor := padding.New(ring, func(context.Context) (ringbuffer.Run, error) {
		run := ringbuffer.Run{First: next, N: 4}
		next += 100
		return run, nil
	}, padding.Config{})
	defer executor.Close()
	if err := executor.Fill(context.Background()); err != nil {
		log.Fatal(err)
	}
	executor.Start()

	fmt.Println(ring.TakeRun(4), ring.TakeRun(4))
	// Output: {0 4} {100 4}
}

// A source that has come to its end. Until the executor is started, Fill and Help
// do its work in the caller's goroutine.
func ExampleNew() {
	ring, err := ringbuffer.New(ringbuffer.Config{Runs: 4, RunLen: 128})
	if err != nil {
		log.Fatal(err)
	}
	spent := errors.New("no more numbers")
	next := int64(0)
	executor := padding.New(ring, func(context.Context) (ringbuffer.Run, error) {
		if next == 200 {
			return ringbuffer.Run{}, spent
		}
		run := ringbuffer.Run{First: next, N: 100}
		next += 100
		return run, nil
	}, padding.Config{})
	defer executor.Close()

	fmt.Println(executor.Fill(context.Background()))
	fmt.Println(ring.Remaining())
	// Output:
	// no more numbers
	// 200
}

func ExampleParseSchedule() {
	_, err := padding.ParseSchedule("@every 1m")
	fmt.Println(err)
	_, err = padding.ParseSchedule("hourly")
	fmt.Println(err != nil)
	// Output:
	// <nil>
	// true
}
