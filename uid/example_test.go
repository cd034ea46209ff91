package uid_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidtest"
	"github.com/uidring/uidring/worker/lease"
)

func ExampleNewCached() {
	gen, err := uid.NewCached(context.Background(), lease.NewStatic(7), uid.CachedConfig{
		MaxBorrow: time.Hour,
		MaxAge:    10 * time.Second, // an idle service's ids are no older
	})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()

	first, err := gen.Next()
	if err != nil {
		log.Fatal(err)
	}
	second, err := gen.Next()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(second > first)
	// Output: true
}

// shop is a service that draws ids. It declares the one method that it calls.
type shop struct {
	ids interface{ Next() (uid.ID, error) }
}

func (s shop) order(buyer string) (string, error) {
	id, err := s.ids.Next()
	if err != nil {
		return "", fmt.Errorf("order of %s: %w", buyer, err)
	}
	return fmt.Sprintf("%s of %s", id, buyer), nil
}

// always is an id for a test.
type always uid.ID

func (id always) Next() (uid.ID, error) { return uid.ID(id), nil }

// A service declares the method that it calls: any generator fits, and so does a type of one
// method in a test.
func ExampleGenerator() {
	gen, err := uid.NewCached(context.Background(), lease.NewStatic(7), uid.CachedConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()

	_, err = shop{gen}.order("Ada")
	fmt.Println(err)
	fmt.Println(shop{always(1000)}.order("Grace"))
	// Output:
	// <nil>
	// 1000 of Grace <nil>
}

func ExampleCached_NextN() {
	gen, err := uid.NewCached(context.Background(), lease.NewStatic(7), uid.CachedConfig{})
	if err != nil {
		log.Fatal(err)
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
	gen, err := uid.NewDefault(context.Background(), lease.NewStatic(7), uid.DefaultConfig{Now: now})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()

	id, err := gen.Next()
	if err != nil {
		log.Fatal(err)
	}
	parts, err := gen.Parse(id)
	fmt.Println(parts.Time, parts.Worker, err)
	// Output: 2026-11-20 10:00:00 +0000 UTC 7 <nil>
}

// A service that would rather shed load than stamp ids ahead of the clock.
// The clock stands still, so that the example is always the same.
func ExampleRefusal() {
	now := time.Date(2026, time.November, 20, 10, 0, 0, 0, time.UTC)
	gen, err := uid.NewCached(context.Background(), lease.NewStatic(7), uid.CachedConfig{
		MaxBorrow: time.Nanosecond,
		Now:       func() time.Time { return now },
		RejectedTake: func(r uid.Refusal) error {
			if errors.Is(r.Err, uid.ErrBorrowLimit) {
				return fmt.Errorf("busy, try again: %w", r.Err)
			}
			return uid.PolicyHelp(r)
		},
	})
	if err != nil {
		log.Fatal(err)
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

// A caller that would rather wait for an id than fail says for how long.
func ExampleCached_Wait() {
	gen, err := uid.NewCached(context.Background(), lease.NewStatic(7), uid.CachedConfig{})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background()) // or a request's
	defer cancel()

	id, err := gen.Wait(ctx)
	fmt.Println(id > 0, err)

	gen.Close() // ends what waits
	_, err = gen.Wait(ctx)
	fmt.Println(errors.Is(err, uid.ErrClosed))
	// Output:
	// true <nil>
	// true
}

// A service answers 503 with a Retry-After, and the error says when there are ids again.
// The clock stands still, so that the example is always the same.
func ExampleBorrowLimitError() {
	now := time.Date(2026, time.November, 20, 10, 0, 0, 0, time.UTC)
	gen, err := uid.NewCached(context.Background(), lease.NewStatic(7), uid.CachedConfig{
		MaxBorrow: time.Nanosecond, // no id is stamped ahead of the clock
		Now:       func() time.Time { return now },
	})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()

	n, err := gen.NextN(make([]uid.ID, 1_000_000))
	if limit, ok := errors.AsType[*uid.BorrowLimitError](err); ok {
		fmt.Println(n, "ids, Retry-After:", limit.RetryAfter())
	}
	// Output: 65536 ids, Retry-After: 1s
}

// The number is lost, and no other is given: the error says why, and when to ask
// again.
func ExampleReservationError() {
	leaser := new(uidtest.WorkerSource) // stands for a database
	gen, err := uid.NewCached(context.Background(), leaser, uid.CachedConfig{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()
	leaser.Lose(lease.ErrLost)

	_, err = gen.Next()
	if reservation, ok := errors.AsType[*uid.ReservationError](err); ok {
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
	leaser := new(uidtest.WorkerSource) // stands for a database
	gen, err := uid.NewCached(context.Background(), leaser, uid.CachedConfig{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
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
	// ring of 524288 has loads: false
	// failing: true because: lease: the number is lost
}

// The clock steps back by an hour, and ids go on. They are unique, and have no order.
func ExampleNewSlots() {
	now := time.Date(2026, time.November, 20, 10, 0, 0, 0, time.UTC)
	gen, err := uid.NewSlots(context.Background(), lease.NewStatic(7), uid.SlotsConfig{
		Now: func() time.Time { return now },
	})
	if err != nil {
		log.Fatal(err)
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
// number that was never used: uidtest.WorkerSource stands for a worker.Registry here.
func ExampleNewBackfill() {
	ctx := context.Background()
	backfill, err := uid.NewBackfill(ctx, new(uidtest.WorkerSource), uid.BackfillConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer backfill.Close()
	id, err := backfill.At(time.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC))
	if err != nil {
		log.Fatal(err)
	}
	parts, err := backfill.Parse(id)
	fmt.Println(parts.Time, err)

	_, err = backfill.At(time.Now().Add(time.Hour)) // live generators stamp that time
	fmt.Println(errors.Is(err, uid.ErrBackfillTime))
	_, err = uid.NewBackfill(ctx, lease.NewStatic(7), uid.BackfillConfig{})
	fmt.Println(errors.Is(err, uid.ErrConfig))
	// Output:
	// 2026-01-02 03:04:05 +0000 UTC <nil>
	// true
	// true
}

// A test with a fixed clock: tick and worker are known, the first sequence of Default is
// random. The epoch lies before the clock.
func ExampleDefaultConfig() {
	now := time.Date(2000, time.January, 1, 0, 0, 7, 0, time.UTC) // where testing/synctest starts
	layout := bits.Fleet()
	layout.Epoch = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	gen, err := uid.NewDefault(context.Background(), lease.NewStatic(3), uid.DefaultConfig{
		Layout: layout,
		Now:    func() time.Time { return now },
	})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()
	first, err := gen.Next()
	if err != nil {
		log.Fatal(err)
	}
	second, err := gen.Next()
	if err != nil {
		log.Fatal(err)
	}
	parts, err := gen.Parse(first)
	fmt.Println(parts.Tick, parts.Worker, second-first, err)
	// Output: 7 3 1 <nil>
}

// The ids of a day, for a query. A superset: ids of Cached may be MaxAge older or
// MaxBorrow newer than their call.
func ExampleCached_Range() {
	gen, err := uid.NewCached(context.Background(), lease.NewStatic(7), uid.CachedConfig{MaxBorrow: time.Hour})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()
	day := time.Date(2026, time.November, 20, 0, 0, 0, 0, time.UTC)
	first, last, err := gen.Range(day, day.AddDate(0, 0, 1))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("SELECT * FROM orders WHERE id BETWEEN %d AND %d\n", first, last)
	// Output: SELECT * FROM orders WHERE id BETWEEN 119860253624893440 AND 120247058379571199
}
