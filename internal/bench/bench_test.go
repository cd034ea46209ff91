package bench

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/uidring/uidring/bits"
)

// The names are what benchstat splits into columns, as by
//
//	go test -run '^$' -bench Next -count 10 | benchstat -col /impl -

func BenchmarkNext(b *testing.B) {
	for _, impl := range All() {
		for _, goroutines := range oneAndAll() {
			b.Run(fmt.Sprintf("impl=%s/goroutines=%d", impl.Name, goroutines), func(b *testing.B) {
				measure(b, impl.New, goroutines)
			})
		}
	}
}

// An op of BenchmarkNextN is a call; ns/id is the figure to compare.
func BenchmarkNextN(b *testing.B) {
	for _, impl := range Batches() {
		for _, goroutines := range oneAndAll() {
			b.Run(fmt.Sprintf("impl=%s/batch=%d/goroutines=%d", impl.Name, BatchSize, goroutines),
				func(b *testing.B) { measure(b, impl.New, goroutines) })
		}
	}
}

func BenchmarkScale(b *testing.B) {
	for _, impl := range All() {
		for _, goroutines := range []int{1, 2, 4, 8, 64, 1024} {
			b.Run(fmt.Sprintf("impl=%s/goroutines=%d", impl.Name, goroutines), func(b *testing.B) {
				measure(b, impl.New, goroutines)
			})
		}
	}
}

func BenchmarkRing(b *testing.B) {
	for _, boost := range []int{1, 3, 6, 10} {
		for _, goroutines := range oneAndAll() {
			b.Run(fmt.Sprintf("boost=%d/goroutines=%d", boost, goroutines), func(b *testing.B) {
				measure(b, func() (*Instance, error) {
					gen, err := OpenCached(bits.Default, boost)
					if err != nil {
						return nil, err
					}
					return CachedInstance(gen), nil
				}, goroutines)
			})
		}
	}
}

// oneAndAll returns the two numbers of goroutines that the bars are about.
func oneAndAll() []int {
	return slices.Compact([]int{1, runtime.GOMAXPROCS(0)})
}

func measure(b *testing.B, start func() (*Instance, error), goroutines int) {
	in, err := start()
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := in.Stop(); err != nil {
			b.Error(err)
		}
	}()
	b.ReportAllocs()
	b.StopTimer()
	b.ResetTimer()
	took, err := fan(in.Batch, goroutines, b.N, b.StartTimer)
	b.StopTimer()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(took.Nanoseconds())/float64(b.N*in.IDs()), "ns/id")
	if in.Stats != nil {
		b.ReportMetric(in.Stats().Borrowed.Seconds(), "borrowed-s")
	}
}
