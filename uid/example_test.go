package uid_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

func ExampleNewCached() {
	gen, err := uid.NewCached(context.Background(), uid.StaticWorker(7), uid.CachedConfig{
		Layout:    bits.LongLived(),
		MaxBorrow: time.Hour,
		MaxAge:    10 * time.Second, // an idle service's ids are no older
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()

	first, err := gen.Next()
	if err != nil {
		fmt.Println(err)
		return
	}
	second, err := gen.Next()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(second > first)
	// Output: true
}

func ExampleCached_NextN() {
	gen, err := uid.NewCached(context.Background(), uid.StaticWorker(7), uid.CachedConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()

	ids := make([]uid.ID, 1000)
	n, err := gen.NextN(ids)
	fmt.Println(n, err, ids[999] > ids[0])
	// Output: 1000 <nil> true
}

func ExampleNewDefault() {
	// A clock that stands still, so that the example is always the same.
	now := func() time.Time { return time.Date(2026, time.November, 20, 10, 0, 0, 0, time.UTC) }
	gen, err := uid.NewDefault(context.Background(), uid.StaticWorker(7), uid.DefaultConfig{Now: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()

	id, err := gen.Next()
	if err != nil {
		fmt.Println(err)
		return
	}
	parts, err := gen.Parse(id)
	fmt.Println(parts.Time, parts.Worker, err)
	// Output: 2026-11-20 10:00:00 +0000 UTC 7 <nil>
}

// A service that would rather shed load than stamp ids ahead of the clock.
func ExampleRefusal() {
	gen, err := uid.NewCached(context.Background(), uid.StaticWorker(7), uid.CachedConfig{
		MaxBorrow: time.Nanosecond,
		RejectedTake: func(r uid.Refusal) error {
			if errors.Is(r.Err, uid.ErrBorrowLimit) {
				return fmt.Errorf("busy, try again: %w", r.Err)
			}
			return uid.Help(r)
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()

	ids := make([]uid.ID, 100_000)
	_, err = gen.NextN(ids)
	fmt.Println(errors.Is(err, uid.ErrBorrowLimit))
	// Output: true
}

func ExampleParseID() {
	id, err := uid.ParseID("960121041164754944")
	fmt.Println(id, err)
	_, err = uid.ParseID("twelve")
	fmt.Println(err)
	// Output:
	// 960121041164754944 <nil>
	// uid: not an id: "twelve", want a decimal number from 0 to 9223372036854775807
}
