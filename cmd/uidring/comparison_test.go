package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func TestChange(t *testing.T) {
	for _, tt := range []struct {
		old, new   spread
		rounds     int
		more       bool
		percent    float64
		want       verdict
		shown, rng string
	}{
		{spread{90, 100, 110}, spread{95, 105, 115}, 3, true, 5, within, "+5.0%", "-13.6% to +27.8%"},
		{spread{90, 100, 110}, spread{110, 120, 130}, 3, true, 20, within, "+20.0%", "+0.0% to +44.4%"},
		{spread{90, 100, 110}, spread{111, 120, 130}, 3, true, 20, better, "+20.0%", "+0.9% to +44.4%"},
		{spread{90, 100, 110}, spread{111, 120, 130}, 3, false, 20, worse, "+20.0%", "+0.9% to +44.4%"},
		{spread{90, 100, 110}, spread{50, 60, 89}, 2, true, -40, worse, "-40.0%", "-54.5% to -1.1%"},
		{spread{90, 100, 110}, spread{50, 60, 89}, 2, false, -40, better, "-40.0%", "-54.5% to -1.1%"},
		{spread{100, 100, 100}, spread{100, 100, 100}, 2, true, 0, within, "+0.0%", "+0.0% to +0.0%"},
		{spread{100, 100, 100}, spread{200, 200, 200}, 1, true, 100, unknown, "+100.0%", "-"},
		{spread{1, 1, 1}, spread{20, 20, 20}, 2, true, 1900, better, "x20.0", "x20.0 to x20.0"},
		{spread{1e6, 1e6, 1e6}, spread{999_999, 999_999, 999_999}, 2, true, -0.0001, worse, "+0.0%", "+0.0% to +0.0%"},
	} {
		for _, rounds := range [][2]int{{tt.rounds, 3}, {3, tt.rounds}} {
			c := change{Old: tt.old, New: tt.new}
			c.compare(rounds[0], rounds[1], tt.more)
			if c.Verdict != tt.want || c.Percent-tt.percent > 1e-6 || tt.percent-c.Percent > 1e-6 || signed(c.Percent) != tt.shown || c.span() != tt.rng {
				t.Errorf("%v to %v: %+v, %s, %s; want %v %s, %s, %s", tt.old, tt.new, c, signed(c.Percent), c.span(), tt.percent, tt.want, tt.shown, tt.rng)
			}
		}
	}
}

func TestSpread(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   spread
	}{
		{nil, spread{}},
		{[]float64{5}, spread{5, 5, 5}},
		{[]float64{9, 1}, spread{1, 1, 9}},
		{[]float64{9, 1, 5}, spread{1, 5, 9}},
	} {
		if got := spreadOf(tt.values); got != tt.want {
			t.Errorf("%v, want %v", got, tt.want)
		}
	}
}

// Rounds become the row of the one in the middle, and what failed in any is told.
func TestRounds(t *testing.T) {
	var r result
	r.add([]cell{
		{rounds: []row{{Name: "a", PerSecond: 10, NsPerID: 1e8}, {Name: "a", PerSecond: 30, NsPerID: 3e7}, {Name: "a", PerSecond: 20, NsPerID: 5e7}}},
		{rounds: []row{{Name: "b", PerSecond: 10, NsPerID: 1e8, Rejected: 2, Stopped: "over"}, {Name: "b", PerSecond: 5, NsPerID: 2e8, Rejected: 1}}},
		{},
	})
	if len(r.Rows) != 2 || r.Rows[0].PerSecond != 20 || r.Rows[0].Spread != (spread{10, 20, 30}) || r.Rows[0].FloorRatio != 1 {
		t.Errorf("%+v", r.Rows)
	}
	if b := r.Rows[1]; b.PerSecond != 5 || b.FloorRatio != 4 || b.Rejected != 3 || b.Stopped != "over" || b.Rounds != 2 || b.Latency != nil {
		t.Errorf("%+v", b)
	}
}

// before is what a release printed that measured once.
const before = `{"go":"go1.20","platform":"plan9/mips","cores":1,"layout":"28/22/13","duration_seconds":1,"rows":[` +
	`{"name":"atomic add","goroutines":1,"ids":1,"seconds":1,"ids_per_second":476000000,"ns_per_id":2.1,"floor_ratio":1,"allocs_per_id":0,"rejected":0,"borrowed_seconds":0},` +
	`{"name":"Default.Next","goroutines":1,"ids":0,"seconds":1,"ids_per_second":0,"ns_per_id":0,"floor_ratio":0,"allocs_per_id":0,"rejected":0,"borrowed_seconds":0}]}`

func TestCompare(t *testing.T) {
	elsewhere(t)
	bench := []string{"bench", "--duration", "1ms", "--layout", swift}
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("old.json", succeed(t, append(bench, "--json")...))
	write("before.json", before)

	out := succeed(t, append(bench, "--json", "--compare", "old.json")...)
	var got result
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Comparison == nil {
		t.Fatalf("%s: %v", out, err)
	}
	if c := got.Comparison; len(c.Differences) != 0 || c.Time.IsZero() || c.Version == "" || len(c.Changes) == 0 || c.Changes[0].Figure != speedFigure {
		t.Errorf("%+v", c)
	}
	if out := succeed(t, append(bench, "--compare", "old.json")...); !strings.Contains(out, "\nchange since the bench of 20") ||
		!strings.Contains(out, tailFigure) || !strings.Contains(out, "% to ") {
		t.Errorf("%s", out)
	}
	out = succeed(t, append(bench, "--compare", "before.json", "--count", "2")...)
	for _, want := range []string{"an earlier bench", "not the same: Go, go1.20 and now ", "not the same: layout, 28/22/13 and", string(unknown), "476,000,000"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "NaN") || strings.Contains(out, "Inf") || strings.Contains(out, tailFigure) {
		t.Errorf("%s", out)
	}
}

func TestForeignResult(t *testing.T) {
	elsewhere(t)
	row := func(fields string) string {
		return `{"go":"go1","layout":"1/2/3","rows":[{"name":"Cached.Next","goroutines":1,` + fields + `}]}`
	}
	for text, want := range map[string]string{
		``:                       "not what bench --json prints",
		`[]`:                     "not what bench --json prints",
		`{}`:                     "no rows of a bench",
		`{"id":"1"}`:             "no rows of a bench",
		before + before:          "not what bench --json prints",
		`{"go":"go1","rows":[]}`: "no rows of a bench",
		`{"go":"go1","layout":"1/2/3","rows":[{"name":"other"}]}`: "no rows of a bench",
		row(`"ids_per_second":"5"`):                               "not what bench --json prints",
		row(`"ids_per_second":-5`):                                "row 1, of Cached.Next",
		row(`"rounds":2,"ids_per_second_spread":{"lowest":5}`):    "row 1, of Cached.Next",
		strings.Replace(row(`"rounds":1`), `:1,`, `:0,`, 1):       "row 1, of Cached.Next",
	} {
		if err := os.WriteFile("old.json", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := invoke(t, "", "bench", "--compare", "old.json", "--duration", "1h"); got.code != 1 || !strings.Contains(got.stderr, want) || got.stdout != "" {
			t.Errorf("%s: %+v, want %q", text, got, want)
		}
	}
}
