package uid_test

import (
	"context"
	"fmt"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// A test with a fixed clock: tick and worker are known, the first sequence of Default is
// random. The epoch lies before the clock.
func ExampleDefaultConfig() {
	now := time.Date(2000, time.January, 1, 0, 0, 7, 0, time.UTC) // where testing/synctest starts
	layout := bits.Default()
	layout.Epoch = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	gen, err := uid.NewDefault(context.Background(), uid.StaticWorker(3), uid.DefaultConfig{
		Layout: layout,
		Now:    func() time.Time { return now },
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
	parts, err := gen.Parse(first)
	fmt.Println(parts.Tick, parts.Worker, second-first, err)
	// Output: 7 3 1 <nil>
}

// The ids of a day, for a query. A superset: ids of Cached may be MaxAge older or
// MaxBorrow newer than their call.
func ExampleCached_Range() {
	gen, err := uid.NewCached(context.Background(), uid.StaticWorker(7), uid.CachedConfig{MaxBorrow: time.Hour})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	day := time.Date(2026, time.November, 20, 0, 0, 0, 0, time.UTC)
	first, last, err := gen.Range(day, day.AddDate(0, 0, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("SELECT * FROM orders WHERE id BETWEEN %d AND %d\n", first, last)
	// Output: SELECT * FROM orders WHERE id BETWEEN 958882028999147520 AND 961976467036569599
}
