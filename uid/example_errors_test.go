package uid_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidtest"
	"github.com/uidring/uidring/worker/lease"
)

// A service answers 503 with a Retry-After, and the error says when there are ids again.
// The clock stands still, so that the example is always the same.
func ExampleBorrowLimitError() {
	now := time.Date(2026, time.November, 20, 10, 0, 0, 0, time.UTC)
	gen, err := uid.NewCached(context.Background(), uid.StaticWorker(7), uid.CachedConfig{
		MaxBorrow: time.Nanosecond, // no id is stamped ahead of the clock
		Now:       func() time.Time { return now },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()

	n, err := gen.NextN(make([]uid.ID, 1_000_000))
	var limit *uid.BorrowLimitError
	if errors.As(err, &limit) {
		fmt.Println(n, "ids, Retry-After:", limit.RetryAfter())
	}
	// Output: 8192 ids, Retry-After: 1s
}

// The number is lost, and no other is given: the error says why, and when to ask
// again.
func ExampleReservationError() {
	leaser := new(uidtest.Leaser) // stands for a database
	gen, err := uid.NewCached(context.Background(), leaser, uid.CachedConfig{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	leaser.Lose(lease.ErrLost)

	_, err = gen.Next()
	var reservation *uid.ReservationError
	if errors.As(err, &reservation) {
		fmt.Println("worker", reservation.Worker, "because", reservation.Err)
		fmt.Println(reservation.RetryAfter(), errors.Is(err, lease.ErrLost))
	}
	// Output:
	// worker 1 because lease: the number is lost
	// 1s true
}

// What a health check reads. Which parts there are depends on the generator's kind: a
// Cached has a clock and a ring, and loads nothing.
func ExampleStats() {
	leaser := new(uidtest.Leaser) // stands for a database
	gen, err := uid.NewCached(context.Background(), leaser, uid.CachedConfig{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()

	stats := gen.Stats()
	fmt.Println("failing:", stats.Failing(), "has ids:", stats.Remaining > 0)
	fmt.Println("worker", stats.Clock.Worker, "layout ends soon:", stats.Clock.LayoutEndsSoon)
	fmt.Println("ring of", stats.Ring.Capacity, "has loads:", stats.Loads != nil)

	leaser.Lose(lease.ErrLost)
	_, _ = gen.Next()
	stats = gen.Stats()
	fmt.Println("failing:", stats.Failing(), "because:", stats.Clock.LeaseError)
	// Output:
	// failing: false has ids: true
	// worker 1 layout ends soon: false
	// ring of 65536 has loads: false
	// failing: true because: lease: the number is lost
}
