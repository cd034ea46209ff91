package layout_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/clitest"
)

// wished is what the test asks of layout.
type wished struct {
	workers, years, rate, starts int64 // starts is 0 for leased numbers
	js                           bool
}

func (w wished) args() []string {
	text := fmt.Sprintf("layout --json --workers %d --years %d --rate %d", w.workers, w.years, w.rate)
	if w.starts > 0 {
		text += fmt.Sprintf(" --registry --starts-a-day %d", w.starts)
	}
	if w.js {
		text += " --js"
	}
	return strings.Fields(text)
}

// held reports whether a layout has what is wished.
func (w wished) held(l bits.Layout) bool {
	numbers := w.workers + 1 // number 0 is not given
	if w.starts > 0 {
		numbers = max(w.workers, w.starts*(w.years*365+w.years/4)) + 1
	}
	greatest := 63
	if w.js {
		greatest = 53
	}
	return l.Bits() <= greatest && l.End().After(time.Now().AddDate(int(w.years), 0, 0)) &&
		1<<l.WorkerBits >= numbers && float64(int64(1)<<l.SequenceBits)/l.Unit.Seconds() >= float64(w.rate)
}

// What is proposed holds what was asked. Where nothing is proposed, no layout of ticks of a
// second does, and what is offered instead holds.
func TestPropose(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := wished{
			workers: rapid.Int64Range(1, 1<<rapid.IntRange(0, 30).Draw(rt, "worker bits")).Draw(rt, "workers"),
			years:   rapid.Int64Range(1, 300).Draw(rt, "years"),
			rate:    rapid.Int64Range(1, 1<<rapid.IntRange(0, 30).Draw(rt, "rate bits")).Draw(rt, "rate"),
			starts:  rapid.OneOf(rapid.Just[int64](0), rapid.Int64Range(1, 100_000)).Draw(rt, "starts"),
			js:      rapid.Bool().Draw(rt, "js"),
		}
		got := uidring.Invoke(t, "", w.args()...)
		if got.Code == 0 {
			var a struct {
				Layout   bits.Layout
				Go, YAML string
				Rate     float64 `json:"ids_per_second"`
				Exact    bool    `json:"exact_in_javascript"`
			}
			if err := json.Unmarshal([]byte(got.Stdout), &a); err != nil {
				rt.Fatal(err)
			}
			pasted, err := bits.ParseLayout(strings.TrimPrefix(a.YAML, "layout: "))
			if err != nil || pasted != a.Layout || !w.held(a.Layout) || a.Rate < float64(w.rate) || w.js && !a.Exact || !strings.HasPrefix(a.Go, "Layout: bits.") {
				rt.Fatalf("%+v: %s", w, got.Stdout)
			}
			return
		}
		if got.Code != 1 || !strings.HasPrefix(got.Stderr, "uidring: no layout fits") || strings.Count(got.Stderr, "\n") != 1 {
			rt.Fatalf("%+v: %+v", w, got)
		}
		greatest := uint8(63)
		if w.js {
			greatest = 53
		}
		epoch := time.Date(time.Now().Year(), time.January, 1, 0, 0, 0, 0, time.UTC)
		for ticks := range greatest {
			for worker := range greatest - ticks {
				l := bits.Layout{TimeBits: ticks + 1, WorkerBits: worker, SequenceBits: greatest - ticks - 1 - worker, Epoch: epoch, Unit: time.Second}
				if w.held(l) {
					rt.Fatalf("%+v: nothing is proposed, and %s fits", w, l)
				}
			}
		}
		for offer := range strings.Lines(got.Stdout) {
			flag, rest, _ := strings.Cut(strings.TrimPrefix(offer, "--"), " ")
			args, less := append(w.args(), "--"+flag, strings.Fields(rest)[0]), w // the last of a flag counts
			switch {
			case strings.HasPrefix(offer, "without --js"):
				less.js = false
				args = less.args()
			case strings.HasPrefix(offer, "without --registry"):
				less.starts = 0
				args = less.args()
			}
			if got := uidring.Invoke(t, "", args...); got.Code != 0 {
				rt.Fatalf("%+v: %s: %+v", w, offer, got)
			}
		}
	})
}

// A preset is proposed for as many workers as a database has numbers for, and for no more.
func TestProposalsAtTheEdge(t *testing.T) {
	for _, edge := range []struct {
		args, preset string
		workers      int64
	}{
		{"--years 5 --rate 60000", "fleet", 1<<16 - 1},
		{"--years 5 --rate 1000 --js", "js-safe", 1<<12 - 1},
		{"--years 5 --rate 8000", "registry", 1<<22 - 1},
		{"--years 5 --rate 500", "long-lived", 1<<23 - 1},
	} {
		for more := range int64(2) {
			got := uidring.Invoke(t, "", strings.Fields(fmt.Sprintf("layout --json %s --workers %d", edge.args, edge.workers+more))...)
			if is := strings.Contains(got.Stdout, `"name":"`+edge.preset+`"`); is != (more == 0) {
				t.Errorf("%s for %d workers: %+v", edge.preset, edge.workers+more, got)
			}
		}
		greatest := strings.Fields(fmt.Sprintf("layout --json %s --registry --starts-a-day 1 --workers %d", edge.args, edge.workers))
		if got := uidring.Invoke(t, "", greatest...); !strings.Contains(got.Stdout, `"name":"`+edge.preset+`"`) || !strings.Contains(got.Stdout, `"reserve":0`) {
			t.Errorf("%s for %d starts of a registry: %+v", edge.preset, edge.workers, got)
		}
	}
}

// A preset is proposed by its name, another layout in full, and a refusal names what each wish
// costs.
func TestProposals(t *testing.T) {
	for args, want := range map[string][]string{
		"--workers 500 --years 12 --rate 20000": {"\nreserve        65035 numbers", "\nids            65536 a second for each worker", "\nburst          5662310400 ids at once",
			"\nin JavaScript  as a string\n", "\nends           2094-01-19", "\nGo    Layout: bits.Fleet(),\nYAML  layout: fleet\n"},
		"--workers 50 --years 20 --rate 500 --js":                                     {"\nin JavaScript  exact\n", "\nYAML  layout: js-safe\n"},
		"--workers 9 --years 90 --rate 90":                                            {"Go    Layout: bits.Layout{TimeBits: ", ", Epoch: time.Date(", ", 1, 1, 0, 0, 0, 0, time.UTC), Unit: time.Second},\nYAML  layout: "},
		"--workers 50 --years 20 --rate 500 --registry --starts-a-day 100":            {"\nYAML  layout: long-lived\n"},
		"--workers 500 --years 50 --rate 20000 --js":                                  {"--rate 8192    instead of 20000: ", "\n--workers 127  instead of 500: ", "\n--years ", "\nwithout --js   "},
		"--workers 50 --years 50 --rate 50000 --registry --starts-a-day 100000":       {"\n--starts-a-day ", "\nwithout --registry "},
		"--workers 1048576 --years 300 --rate 1073741824 --registry --starts-a-day 1": {" 1048577 worker numbers 21, "}, // 0 is not given
		"--workers 1000000 --years 50 --rate 1000000":                                 {" 1000001 worker numbers 20, "},
	} {
		got := uidring.Invoke(t, "", append([]string{"layout"}, strings.Fields(args)...)...)
		clitest.Wants(t, got.Stdout+got.Stderr, want...)
	}
}
