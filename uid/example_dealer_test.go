package uid_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/padding"
	"github.com/uidring/uidring/ringbuffer"
	"github.com/uidring/uidring/uid"
)

// A generator of your own: the ids of a counter that some service keeps. The
// source may block, so Padding.Blocking says so.
func ExampleNewDealer() {
	var counter atomic.Int64
	counter.Store(1001)
	reserve := func(ctx context.Context, n int64) (first int64, err error) {
		select {
		case <-time.After(time.Millisecond): // as a service takes its time
			return counter.Add(n) - n, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	const runLen = 1024
	gen, err := uid.NewDealer(func(ctx context.Context) (ringbuffer.Run, error) {
		first, err := reserve(ctx, runLen)
		return ringbuffer.Run{First: first, N: runLen}, err
	}, uid.DealerConfig{
		Runs: 4, RunLen: runLen, PaddingFactor: 50,
		Padding: padding.Config{Blocking: true},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	if err := gen.Start(context.Background()); err != nil {
		fmt.Println(err)
		return
	}

	fmt.Println(gen.Next())
	fmt.Println(gen.Next())
	// Output:
	// 1001 <nil>
	// 1002 <nil>
}
