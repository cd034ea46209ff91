package uid_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidtest"
)

// The clock steps back by an hour, and ids go on. They are unique, and have no order.
func ExampleNewSlots() {
	now := time.Date(2026, time.November, 20, 10, 0, 0, 0, time.UTC)
	gen, err := uid.NewSlots(context.Background(), uid.StaticWorker(7), uid.SlotsConfig{
		Now: func() time.Time { return now },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()

	before, err := gen.Next()
	fmt.Println(before > 0, err)
	now = now.Add(-time.Hour)
	after, err := gen.Next()
	fmt.Println(after != before, err)
	// Output:
	// true <nil>
	// true <nil>
}

// Rows that are migrated get ids of the time at which they were made. A Backfill needs a
// number that was never used: uidtest.Leaser stands for a worker.Registry here.
func ExampleNewBackfill() {
	ctx := context.Background()
	backfill, err := uid.NewBackfill(ctx, new(uidtest.Leaser), uid.BackfillConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer backfill.Close()
	id, err := backfill.At(time.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC))
	if err != nil {
		fmt.Println(err)
		return
	}
	parts, err := backfill.Parse(id)
	fmt.Println(parts.Time, err)

	_, err = backfill.At(time.Now().Add(time.Hour)) // live generators stamp that time
	fmt.Println(errors.Is(err, uid.ErrPast))
	_, err = uid.NewBackfill(ctx, uid.StaticWorker(7), uid.BackfillConfig{})
	fmt.Println(errors.Is(err, uid.ErrUsedNumber))
	// Output:
	// 2026-01-02 03:04:05 +0000 UTC <nil>
	// true
	// true
}
