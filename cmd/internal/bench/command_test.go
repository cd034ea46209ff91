package bench

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/internal/clitest"
)

// uidring is the command under test.
var uidring = clitest.Of(New)

// short is a bench that measures little.
var short = []string{"bench", "--duration", "1ms", "--count", "1"}

// ours is the program of the command.
var ours = &Program{Title: "uidring bench", Tasks: oursTasks}

// sample is a result with all figures, each with samples of its own.
func sample(steps ...int) *Result {
	r := &Result{Machine: Machine{CPU: "a processor", Go: "go1"}, Layout: "1/2/3", Seconds: 1, Rounds: 4, Time: time.Unix(1e9, 0)}
	add := func(name string, at Setting, unit string, samples ...float64) {
		r.Add(Figure{Quantity{name, at, unit}, samples})
	}
	for i, name := range []string{Add, CachedNext, DefaultNext} {
		for _, n := range steps {
			ns := float64(n) + 7*float64(i)
			add(name, Setting{Goroutines: n}, Cost, ns, ns*1.1, ns*1.2, ns*1.3)
			add(name, Setting{Goroutines: n}, Rate, 1000/ns, 900/ns, 800/ns, 700/ns)
			add(name, Setting{Goroutines: n}, AllocsPerID, 0)
		}
		for k, unit := range Latencies {
			ns := float64(100 + 10*i + k)
			add(name, Setting{}, unit, ns, ns, ns, ns)
		}
	}
	add(CachedNext, Setting{Goroutines: slices.Max(steps)}, Borrowed, 5, 6, 7, 8)
	return r
}

func TestJSON(t *testing.T) {
	got := clitest.Decode[Result](t, uidring.Succeed(t, append(short, "--json", "--layout", "snowflake")...))
	if got.Go != runtime.Version() || got.CPU == "" || got.Cores != runtime.GOMAXPROCS(0) || got.Rounds != 1 || got.Seconds != 0.001 ||
		!strings.HasPrefix(got.Layout, "41/10/12,") || got.Samples == 0 || got.Took <= 0 ||
		got.Command != "uidring bench --count=1 --duration=1ms --json=true --layout="+got.Layout {
		t.Errorf("%+v", got)
	}
	for _, name := range []string{Add, Called, Now, CachedNext, CachedNextN, CachedWaitN,
		CachedAll, DefaultNext, DefaultNextN, DefaultAll, SlotsNext} {
		for _, n := range goroutineSteps(got.Cores) {
			if s := got.Cost(name, Setting{Goroutines: n}); len(s) != 1 || slices.Min(s) <= 0 {
				t.Errorf("%s with %d goroutines has samples %v", name, n, s)
			}
		}
		if name == CachedAll || name == DefaultAll {
			continue // no single calls
		}
		for _, unit := range Latencies {
			if s := got.Of(name, Setting{}, unit); len(s) != 1 {
				t.Errorf("%s has %s %v", name, unit, s)
			}
		}
	}
}

func TestTable(t *testing.T) {
	r := sample(1, 2)
	r.Limits, r.Samples, r.Disturbed = "8 ids in 1s", 9, 3
	page, err := ours.markdown(ours.newPage(r))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(plain(page)), " ")
	for _, want := range []string{
		"CPU a processor", "layout 1/2/3", "rounds 4, 1 s a sample", "3 of 9 samples were disturbed:", "The layout allows 8 ids in 1s",
		"`Cached.Next` 9.20 (8.00–10.4) × 8.00 10.3 (9.00–11.7) × 4.50 ", "Cached.Next 106 (87.5–125) 94.4 (77.8–111) ", "Cached.Next – 6.50 (5.00–8.00) ",
		"Default.Next 120 (120–120) 121 (121–121) 122 (122–122) 123 (123–123)",
	} {
		if !strings.Contains(text, strings.ReplaceAll(want, "`", "")) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, wrong := range []string{"Change since", "**", "---", "|", "#", "bars", "interrupted", "\n\n\n"} {
		if strings.Contains(plain(page), wrong) {
			t.Errorf("%q in\n%s", wrong, plain(page))
		}
	}
}

// An earlier bench is shown as it was, in each form.
func TestFrom(t *testing.T) {
	clitest.Elsewhere(t)
	first := uidring.Succeed(t, append(short, "--json", "--report", "first.md")...)
	if err := os.WriteFile("first.json", []byte(first), 0o600); err != nil {
		t.Fatal(err)
	}
	if again := uidring.Succeed(t, "bench", "--from", "first.json", "--json"); again != first {
		t.Errorf("%s, want %s", again, first)
	}
	text := uidring.Succeed(t, "bench", "--from", "first.json", "--report", "again.md")
	page, err := os.ReadFile("first.md")
	again, err2 := os.ReadFile("again.md")
	if err != nil || err2 != nil || string(page) != string(again) || plain(string(page)) != text {
		t.Errorf("%s, %v, want %s, %v", again, err2, page, err)
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
		"\nChange since the run of 20", "\n- layout: 28/22/13,", "\n- rounds: 1, now 2\n",
		"\n- seconds of a sample: 0.001, now 0.002\n", tooFew, "p99 ns",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}

	r, before := sample(1), sample(1)
	for i := range before.Figures {
		if f := &before.Figures[i]; f.Name == CachedNext {
			for k := range f.Samples {
				f.Samples[k] *= 2
			}
		}
	}
	r.compare(before)
	verdicts := map[string]string{}
	for _, c := range r.Changes {
		verdicts[c.Name+" "+c.Unit] = c.Verdict
	}
	if len(r.Changes) != 6 || len(r.Differences) != 0 || verdicts["Cached.Next ns/id"] != better ||
		verdicts["Cached.Next p99 ns"] != better || verdicts["Default.Next ns/id"] != same {
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
