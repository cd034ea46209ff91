package peers

import (
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
)

// bar is a promise about the median of a benchmark's unit.
type bar struct {
	benchmark, unit string // the benchmark without the number of processors
	least, most     float64
}

// bars are all promises.
func bars(cores int) (list []bar) {
	for _, row := range impls() {
		for goroutines, most := range map[int]float64{1: row.one, cores: row.all} {
			if name := fmt.Sprintf("ID/impl=%s/base=%s/goroutines=%d", row.Name, row.base.Name, goroutines); most > 0 {
				list = append(list, bar{name, ratio, 0, most}, bar{name, garbage, 0, 0})
			}
		}
	}
	return append(list, bar{"HTTP/call=GET_id", ratio, 0.65, math.Inf(1)},
		bar{"Redis/pipeline=1", ratio, 0.85, math.Inf(1)}, bar{"Redis/pipeline=16", ratio, 0.85, math.Inf(1)})
}

// judge returns how many bars the output of benchmarks meets, and what it misses. A bar of a
// benchmark that did not run at all is neither.
func judge(output io.Reader, cores int) (met int, missed []string, err error) {
	samples, ran := map[string][]float64{}, map[string]bool{}
	reader := benchfmt.NewReader(output, "output")
	for reader.Scan() {
		switch r := reader.Result().(type) {
		case *benchfmt.Result:
			name := r.Name.String()
			name = name[:strings.LastIndexByte(name, '-')] // the number of processors
			family, _, _ := strings.Cut(name, "/")
			ran[family] = true
			for _, v := range r.Values {
				samples[name+" "+v.Unit] = append(samples[name+" "+v.Unit], v.Value)
			}
		case *benchfmt.SyntaxError:
			return 0, nil, r
		}
	}
	for _, b := range bars(cores) {
		family, _, _ := strings.Cut(b.benchmark, "/")
		if !ran[family] {
			continue
		}
		if of := samples[b.benchmark+" "+b.unit]; len(of) == 0 {
			missed = append(missed, fmt.Sprintf("%s has no %s", b.benchmark, b.unit))
		} else if m := median(of); m < b.least || m > b.most {
			missed = append(missed, fmt.Sprintf("%s: %.3f %s, want %v to %v", b.benchmark, m, b.unit, b.least, b.most))
		} else {
			met++
		}
	}
	return met, missed, reader.Err()
}

// TestBars judges the output of benchmarks that the variable names.
func TestBars(t *testing.T) {
	path := os.Getenv("UIDRING_BENCH_OUTPUT")
	if path == "" {
		t.Skip("UIDRING_BENCH_OUTPUT names no output of benchmarks")
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	met, missed, err := judge(file, runtime.GOMAXPROCS(0))
	if err != nil || met+len(missed) == 0 {
		t.Fatalf("%s holds no benchmark with a bar, %v", path, err)
	}
	t.Logf("%d bars are met", met)
	for _, text := range missed {
		t.Error(text)
	}
}

func TestJudge(t *testing.T) {
	const rest = "BenchmarkRedis/pipeline=16-2\t1\t5 req/s\t0.9 ×base\n"
	for _, tt := range []struct {
		output string
		met    int
		missed string
	}{
		{"BenchmarkRedis/pipeline=1-2\t1\t5 req/s\t0.85 ×base\n" + rest, 2, ""},
		{"BenchmarkRedis/pipeline=1-2\t1\t5 req/s\t0.849 ×base\n" + rest, 1, "Redis/pipeline=1: 0.849 ×base, want 0.85 to +Inf"},
		{"BenchmarkRedis/pipeline=1-2\t1\t0.1 ×base\n" + strings.Repeat("BenchmarkRedis/pipeline=1-2\t1\t2 ×base\n", 2) + rest, 2, ""}, // the median
		{rest, 1, "Redis/pipeline=1 has no ×base"},
		{"BenchmarkOther-2\t1\t5 ns/op\n", 0, ""},
	} {
		met, missed, err := judge(strings.NewReader(tt.output), 2)
		if got := strings.Join(missed, "; "); err != nil || met != tt.met || got != tt.missed {
			t.Errorf("%q: %d met, missed %q, %v; want %d, %q", tt.output, met, got, err, tt.met, tt.missed)
		}
	}
	missed := bars(2)
	for _, want := range []string{"Cached.Next/base=called-add/goroutines=2", "Client.Next", "Default.Next/base=time.Now/goroutines=1"} {
		found := false
		for _, b := range missed {
			found = found || strings.Contains(b.benchmark, want)
		}
		if !found {
			t.Errorf("no bar of %s", want)
		}
	}
}
