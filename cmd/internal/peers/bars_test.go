package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/test/need"
)

// sixRounds are what six rounds print on two cores, each slower than the one before. An id
// costs 30 ns and a server has 95 requests a second, unless costs or change say otherwise.
func sixRounds(t *testing.T, change map[string]float64) *results {
	costs := map[string]float64{"add": 10, "called add": 10, "fill(16)": 0.5, "fill(256)": 0.5, "time.Since": 20, "time.Now": 40, "Cached.Next": 11,
		"Cached.Wait": 12, "Cached.NextN(16)": 2, "Cached.NextN(256)": 1, "Cached.All": 1, "Segment.Next": 11, "Client.Next": 11}
	var text strings.Builder
	text.WriteString("cpu: Slow\n")
	for round := range 6 {
		write := func(benchmark string, value float64, units string) {
			value = cmp.Or(change[benchmark], value) * float64(round+1)
			fmt.Fprintf(&text, "Benchmark%s\t1\t%v %s\n", strings.TrimSuffix(benchmark, "-1"), value, units)
		}
		for _, r := range rows {
			for _, at := range []int{1, 2} {
				write(r.on(at), cmp.Or(costs[r.name], 30)*ids(r.benchmark), "ns/op\t0 allocs/op")
			}
		}
		for _, r := range serverRows {
			write(on(r, r.base, 2), 100, "req/s")
			write(on(r, "uidringd", 2), 95, "req/s")
		}
	}
	r, err := read(strings.NewReader(text.String()))
	need.Must(t, err)
	return r
}

// A promise that is missed by more than the spread and a row below its floor fail the run.
func TestJudge(t *testing.T) {
	for benchmark, tt := range map[string]struct {
		value  float64
		missed string
	}{
		"":                                  {0, ""},
		"Next/impl=Cached-1":                {13.6, "Cached.Next on 1 cores is 1.36 ±0% × add, want 1.35 at most"},
		"WaitParallel/impl=Cached-2":        {0.7, "Cached.Wait on 2 cores takes 2.45 ±71% ns, less than its floor: add takes 35 ±71% ns on one, divided by 2"},
		"Next/impl=Segment-1":               {1.4, "Segment.Next on 1 cores takes 4.9 ±71% ns, less than its floor: add takes 35 ±71% ns on one, divided by 1"},
		"NextNParallel/n=256/impl=Cached-2": {2.01 * 256 * 0.5, "Cached.NextN(256) on 2 cores is 2.01 ±0% × fill(256), want 2 at most"},
		"Next/impl=Default-1":               {41, "Default.Next on 1 cores is 1.02 ±0% × time.Now, want 1 at most"},
		"HTTP/call=GET_id/impl=uidringd-2":  {59, "`GET /v1/ids` has 0.59 ±0% × the requests of empty, want 0.6 at least"},
		"Redis/pipeline=16/impl=uidringd-2": {84, "`INCR`, 16 in flight has 0.84 ±0% × the requests of redis, want 0.85 at least"},
	} {
		r := sixRounds(t, map[string]float64{benchmark: tt.value})
		if missed := strings.Join(append(r.judge(2), r.judgeServer(2)...), "; "); missed != tt.missed {
			t.Errorf("%s: %q, want %q", benchmark, missed, tt.missed)
		}
	}
	r := sixRounds(t, nil)
	for i, ratio := range []float64{0.95, 0.98, 1.01, 1.01, 1.03, 1.05} {
		r.samples["Next/impl=Default-1 sec/op"][i] = ratio * r.samples["Next/impl=time.Now-1 sec/op"][i]
	}
	if missed := r.judge(2); missed != nil {
		t.Errorf("1.01 with a spread that reaches 1: %q", missed)
	}
	r = sixRounds(t, nil)
	delete(r.samples, "Redis/pipeline=1/impl=uidringd-2 req/s")
	r.samples["Wait/impl=Cached-1 allocs/op"] = []float64{1}
	missed := fmt.Sprint(r.judge(2), r.judgeServer(2))
	for _, want := range []string{"Redis/pipeline=1/impl=uidringd-2 has 0 samples", "Cached.Wait on 1 cores makes 1 allocations"} {
		if strings.Count(missed, want) != 1 {
			t.Errorf("%s is not in %s", want, missed)
		}
	}
}

// The tables replace those that stand between the marks, and the chart is drawn.
func TestPlace(t *testing.T) {
	*root = t.TempDir()
	page := func(name string) string { return filepath.Join(*root, name) }
	need.Must(t, os.Mkdir(page("docs"), 0o700))
	marks := ""
	for _, name := range []string{"ids", "promises", "server"} {
		marks += fmt.Sprintf("before\n<!-- begin %s -->\nold\n<!-- end %[1]s -->\nafter\n", name)
	}
	need.Must(t, os.WriteFile(page("docs/benchmarks.md"), []byte(marks), 0o600))
	for _, p := range parts(2) {
		need.Must(t, sixRounds(t, nil).place(p, 2))
	}
	for name, want := range map[string][]string{
		"docs/benchmarks.md": {"before\n<!-- begin ids -->\n\nSlow, ", "| `Cached.NextN(256)` | 3.5 ±71% | 3.5 ±71% | 0.1 ±0% |\n",
			"| `Cached.Next` ÷ `add` | ≤ 1.35: 1.1 ±0% |  |\n", "| `INCR`, 16 in flight | 350 ±71% | 332 ±71% | 0.95 ±0% | ≥ 0.85 |\n\n<!-- end server -->\nafter\n"},
		"docs/speed.svg": {">Cached.Next<", ">38.5<", "</svg>\n"},
	} {
		text, err := os.ReadFile(page(name))
		need.Must(t, err)
		for _, part := range want {
			if !strings.Contains(string(text), part) || strings.Contains(string(text), "old\n") {
				t.Errorf("%s has not %q: %s", name, part, text)
			}
		}
	}
}
