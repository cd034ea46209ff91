package peers

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/internal/bench"
	"github.com/uidring/uidring/internal/test/need"
)

// Units that a benchmark reports.
const (
	cost    = "ns/id"
	ratio   = "×base"
	garbage = "allocs/call"
)

// read keeps the compiler from dropping a call.
var read bool

// BenchmarkID measures a row and its base in turn, some milliseconds each, so that other
// work of the machine disturbs both alike. It reports the median cost of an id, and the
// median of the ratios of neighbours.
func BenchmarkID(b *testing.B) {
	for _, row := range impls() {
		for _, goroutines := range []int{1, runtime.GOMAXPROCS(0)} {
			b.Run(fmt.Sprintf("impl=%s/base=%s/goroutines=%d", row.Name, row.base.Name, goroutines), func(b *testing.B) {
				own, base := open(b, row.Subject), open(b, row.base)
				var costs, ratios []float64
				var allocs, calls int64
				phase := cmp.Or(row.phase, 4*time.Millisecond)
				own(goroutines, phase) // warms up
				for b.Loop() {
					_, under := base(goroutines, phase)
					before := mallocs()
					n, ns := own(goroutines, phase)
					allocs, calls = allocs+mallocs()-before, calls+n
					costs, ratios = append(costs, ns/ids(row.Subject)), append(ratios, ns/ids(row.Subject)/(under/ids(row.base)))
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(median(costs), cost)
				b.ReportMetric(median(ratios), ratio)
				b.ReportMetric(math.Floor(float64(allocs)/float64(calls)), garbage) // whole ones, as ReportAllocs counts
			})
		}
	}
}

// open starts a subject, which ends with the benchmark, and returns what measures it.
func open(b *testing.B, s bench.Subject) func(goroutines int, d time.Duration) (calls int64, ns float64) {
	loop, end, err := s.Open()
	need.Must(b, err)
	b.Cleanup(func() {
		if end != nil && end() != nil {
			b.Error("it does not end well")
		}
	})
	return func(goroutines int, d time.Duration) (int64, float64) {
		calls, ns, err := bench.Measure(loop, goroutines, d)
		need.Must(b, err)
		return calls, ns
	}
}

func ids(s bench.Subject) float64 { return float64(max(s.IDs, 1)) }

func mallocs() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Mallocs)
}

func median(samples []float64) float64 {
	slices.Sort(samples)
	n := len(samples)
	return (samples[(n-1)/2] + samples[n/2]) / 2
}
