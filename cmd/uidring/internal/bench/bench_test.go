package bench

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/measure"
)

// uidring is the command under test.
var uidring = clitest.Of(New)

// short is a bench that measures little.
var short = []string{"bench", "--duration", "1ms", "--count", "1"}

// sample is a result with all figures, each with samples of its own.
func sample(steps ...int) *result {
	r := &result{Machine: measure.Machine{CPU: "a processor", Go: "go1"}, Layout: "1/2/3", Seconds: 1, Rounds: 4, Time: time.Unix(1e9, 0)}
	for i, name := range []string{measure.Add, measure.CachedNext, measure.DefaultNext} {
		for _, n := range steps {
			ns := float64(n) + 7*float64(i)
			r.add(name, n, cost, measure.Series{ns, ns * 1.1, ns * 1.2, ns * 1.3})
			r.add(name, n, allocs, measure.Series{0})
		}
		for k, unit := range latencies {
			ns := float64(100 + 10*i + k)
			r.add(name, 1, unit, measure.Series{ns, ns, ns, ns})
		}
	}
	r.add(measure.CachedNext, 1, borrowed, measure.Series{5, 6, 7, 8})
	return r
}

func TestJSON(t *testing.T) {
	out := uidring.Succeed(t, append(short, "--json", "--layout", "snowflake")...)
	var got result
	decoder := json.NewDecoder(strings.NewReader(out))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&got); err != nil || strings.Count(out, "\n") != 1 {
		t.Fatalf("%q: %v", out, err)
	}
	if got.Go != runtime.Version() || got.CPU == "" || got.Cores != runtime.GOMAXPROCS(0) || got.Rounds != 1 || got.Seconds != 0.001 ||
		!strings.HasPrefix(got.Layout, "41/10/12,") || !strings.HasSuffix(got.Disturbed, " samples") {
		t.Errorf("%+v", got)
	}
	for _, name := range []string{measure.Add, measure.Called, measure.Now, measure.CachedNext, measure.CachedNextN, measure.CachedWaitN,
		measure.CachedAll, measure.DefaultNext, measure.DefaultNextN, measure.DefaultAll, measure.SlotsNext} {
		for _, n := range goroutineSteps(got.Cores) {
			if s := got.samples(name, n, cost); len(s) != 1 || slices.Min(s) <= 0 {
				t.Errorf("%s with %d goroutines has samples %v", name, n, s)
			}
		}
		if name == measure.CachedAll || name == measure.DefaultAll {
			continue // no single calls
		}
		for _, unit := range latencies {
			if s := got.samples(name, 1, unit); len(s) != 1 {
				t.Errorf("%s has %s %v", name, unit, s)
			}
		}
	}
}

func TestTable(t *testing.T) {
	var b strings.Builder
	r := sample(1, 2)
	r.Limits = "8 ids in 1s"
	if err := r.write(&b); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"a processor; go1", "layout 1/2/3; rounds: 4, 1 s a sample",
		"Cached.Next 9.20 (8.00–10.4) × 8.00 10.3 (9.00–11.7) × 4.50 ", "Cached.Next 108.7M 96.62M ", "Cached.Next 6.50 (5.00–8.00) – ",
		"Default.Next 120.0ns 121.0ns 122.0ns 123.0ns", "The layout allows 8 ids in 1s",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
	if strings.Contains(b.String(), "Change") {
		t.Errorf("a comparison that was not asked for:\n%s", &b)
	}
}

func TestCompare(t *testing.T) {
	clitest.Elsewhere(t)
	old := uidring.Succeed(t, append(short, "--json")...)
	if err := os.WriteFile("old.json", []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	out := uidring.Succeed(t, "bench", "--duration", "2ms", "--count", "2", "--layout", "snowflake", "--compare", "old.json")
	for _, want := range []string{
		"\nChange since the bench of 20", "\nDifferent: layout: 28/22/13,", "\nDifferent: rounds: 1, now 2.",
		"\nDifferent: seconds of a sample: 0.001, now 0.002.", string(measure.TooFew), "p99 ns",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}

	r, before := sample(1), sample(1)
	for i := range before.Figures {
		if f := &before.Figures[i]; f.Name == measure.CachedNext {
			f.Samples = measure.Each(f.Samples, func(v float64) float64 { return 2 * v })
		}
	}
	r.compare(before)
	verdicts := map[string]measure.Verdict{}
	for _, c := range r.Changes {
		verdicts[c.Name+" "+c.Unit] = c.Verdict
	}
	if len(r.Changes) != 6 || len(r.Differences) != 0 || verdicts["Cached.Next ns/id"] != measure.Better ||
		verdicts["Cached.Next p99 ns"] != measure.Better || verdicts["Default.Next ns/id"] != measure.Same {
		t.Errorf("%+v, %q", r.Changes, r.Differences)
	}
}

func TestForeignResult(t *testing.T) {
	clitest.Elsewhere(t)
	for text, want := range map[string]string{
		``:              "is not what bench --json prints",
		`[]`:            "is not what bench --json prints",
		`{}`:            "it has no figures",
		`{"id":"1"}`:    "it has no figures",
		`{"go":1}`:      "is not what bench --json prints",
		`{"figures":5}`: "is not what bench --json prints",
		`{"figures":[{"name":"x","samples":[]}]}`:   "figure 1 has samples []",
		`{"figures":[{"name":"x","samples":[-1]}]}`: "figure 1 has samples [-1]",
		strings.Repeat(" ", maxResult+1):            "16777217 bytes",
	} {
		if err := os.WriteFile("old.json", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := uidring.Invoke(t, "", "bench", "--compare", "old.json", "--duration", "1ms", "--count", "1")
		if got.Code != 1 || !strings.Contains(got.Stderr, want) || !strings.Contains(got.Stderr, "old.json") || got.Stdout != "" {
			t.Errorf("%.50s: %+v, want %q", text, got, want)
		}
	}
}

func TestInterrupted(t *testing.T) {
	clitest.Elsewhere(t)
	if err := os.WriteFile("bench.html", []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	for _, args := range [][]string{{"bench"}, {"bench", "--json"}, {"bench", "--report", "bench.html"}, {"bench", "--report", "new.html"}} {
		var stdout, stderr strings.Builder
		code := uidring.Run(ctx, nil, &stdout, &stderr, args...)
		if code != 1 || !strings.Contains(stderr.String(), "enough") || stdout.Len() == 0 {
			t.Errorf("%q: exit code %d, %q; want what was measured, nothing", args, code, stderr.String())
		}
	}
	if text, err := os.ReadFile("bench.html"); string(text) != "old" {
		t.Errorf("the old report is now %q, %v", text, err)
	}
	if _, err := os.Stat("new.html"); err == nil {
		t.Error("a report of nothing was written")
	}

	ctx, cancel = context.WithCancelCause(t.Context())
	time.AfterFunc(time.Millisecond, func() { cancel(errors.New("enough")) })
	if code := uidring.Run(ctx, nil, new(strings.Builder), new(strings.Builder), "bench", "--duration", "1h"); code != 1 {
		t.Errorf("ended in a sample: exit code %d", code)
	}
}

// A layout that runs out of time while it is measured is an error that says so.
func TestLayoutRunsOut(t *testing.T) {
	got := uidring.Invoke(t, "", "bench", "--duration", "20ms", "--layout", "10/2/1,unit=1h,epoch="+time.Now().Format(time.DateOnly))
	if got.Code != 1 || !strings.Contains(got.Stderr, "Cached.Next") || !strings.Contains(got.Stderr, "run out of time") {
		t.Errorf("%+v", got)
	}
}

func TestGoroutineSteps(t *testing.T) {
	for cores, want := range map[int][]int{1: {1}, 2: {1, 2}, 3: {1, 2, 3}, 6: {1, 2, 4, 6}, 8: {1, 2, 4, 8}} {
		if got := goroutineSteps(cores); !slices.Equal(got, want) {
			t.Errorf("%d cores: %v, want %v", cores, got, want)
		}
	}
}
