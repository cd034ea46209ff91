package bench

import (
	"flag"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/internal/test/need"
)

var uidring = clitest.Of(New)

// Standard output has what benchstat reads, and a table. × is a ratio of medians.
func TestOutput(t *testing.T) {
	out := uidring.Succeed(t, "bench", "--duration", "1ms", "--count", "3", "--boost-power", "1,4", "--padding-factor", "20")
	samples := map[string]int{}
	for _, line := range regexp.MustCompile(`(?m)^Benchmark(\S+)-1\t +[1-9]\d*\t +[0-9.e+-]+ ns/op$`).FindAllStringSubmatch(out, -1) {
		samples[line[1]]++
	}
	for _, name := range []string{"NextParallel/impl=add", "NextParallel/impl=Cached/boost=1/padding=20",
		"NextNParallel/n=256/impl=Cached/boost=4/padding=20", "NextParallel/impl=Default"} {
		if samples[name] != 3 || !regexp.MustCompile(`(?m)^`+name+` +\S+ +× \S`).MatchString(out) {
			t.Errorf("no samples or row of %s: %v, %s", name, samples, out)
		}
	}
	if !strings.Contains(out, "\ncpu: ") || strings.Contains(out, "boost=3") {
		t.Error(out)
	}
}

// A sample of a call for many ids is the time of an id, where the line for benchstat has that of the
// call.
func TestSample(t *testing.T) {
	before := flag.Lookup("test.benchtime").Value.String()
	need.Must(t, flag.Set("test.benchtime", "1000x"))
	defer flag.Set("test.benchtime", before)
	o := options{goroutines: []int{1}}
	for _, n := range []int{1, Batch} {
		r := &row{name: "x", ids: n, samples: make([][]float64, 1), run: func(b *testing.B) error {
			for b.Loop() {
				_ = strings.Repeat("x", 1000)
			}
			return nil
		}}
		var line strings.Builder
		need.Must(t, o.sample(t.Context(), &line, r, 0))
		of, err := strconv.ParseFloat(strings.Fields(line.String())[2], 64)
		need.Must(t, err)
		if got := r.samples[0][0] * float64(n); got < 0.99*of || got > 1.01*of {
			t.Errorf("a sample of %d ids is %v ns, and the line is %s", n, r.samples[0][0], &line)
		}
	}
}

func TestTable(t *testing.T) {
	o := options{count: 4, goroutines: []int{1, 2}}
	var text strings.Builder
	o.table(&text, []*row{
		{name: "add", samples: [][]float64{{4, 1, 3, 100}, {8, 8, 8, 8}}},
		{name: "other", samples: [][]float64{{7, 7, 7, 7}, {4, 4, 4, 4}}},
	})
	if got := strings.Join(strings.Fields(text.String()), " "); !strings.HasSuffix(got, "goroutines 1 2 add 3.5 × 1 8 × 1 other 7 × 2 4 × 0.5") {
		t.Error(got)
	}
}

func TestGoroutineSteps(t *testing.T) {
	for cores, want := range map[int][]int{1: {1}, 2: {1, 2}, 6: {1, 2, 4, 6}, 8: {1, 2, 4, 8}} {
		if got := goroutineSteps(cores); !slices.Equal(got, want) {
			t.Errorf("%d: %v, want %v", cores, got, want)
		}
	}
}
