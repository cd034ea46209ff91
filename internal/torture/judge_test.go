//go:build linux

package torture

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"testing"
)

// The tests of this file need no processes: they hold the judge to what it says.

// at is the first id of the tick that begins ms after the epoch, under a number, in
// the first of the layouts.
func at(ms, number int64) int64 { return (ms/100<<3 | number) << 10 }

// since is an instant of the history.
func since(ms int64) int64 { return epoch.UnixMilli() + ms }

func drew(host string, attempt int64, spans ...span) *process {
	p := &process{order: order{Host: host}, attempt: attempt}
	for _, s := range spans {
		p.add(ticks{layouts[0]}, 0, s)
	}
	return p
}

// history: a has number 1 for three seconds and dies; b takes over, extends, and gives
// it back at five and a half; c goes on from there.
func someHistory() []version {
	return []version{
		{1, "t1", since(2000), 1, "a", "1"},
		{1, "t2", since(3000), 2, "a", "1"},
		{1, "t3", since(5000), 3, "b", "2"},
		{1, "t4", since(6000), 4, "b", "2"},
		{1, "t5", since(5500), 0, "b", "2"},
		{1, "t6", since(8000), 5, "c", "1"},
	}
}

func TestJudge(t *testing.T) {
	const (
		foreign  = "a tick is another's, or nobody's"
		returned = "a tick was given back that is stamped"
		twice    = "ids come twice"
		order    = "ids do not ascend"
		broken   = "the history is broken"
		negative = "an id is not positive"
		granted  = "a grant is not what was reserved"
	)
	good := []*process{
		drew("a", 1, span{at(0, 1), 1024}, span{at(2900, 1), 1024}),
		drew("b", 2, span{at(3000, 1), 1024}, span{at(5400, 1), 1024}),
		drew("c", 1, span{at(5500, 1), 10}),
	}
	for name, test := range map[string]struct {
		processes []*process
		history   func([]version) []version
		repeats   int64
		want      []string
	}{
		"all is well":           {processes: good},
		"beyond the end":        {processes: []*process{drew("a", 1, span{at(3000, 1), 1})}, want: []string{foreign}},
		"before the beginning":  {processes: []*process{drew("b", 2, span{at(2900, 1), 1})}, want: []string{foreign}},
		"another number":        {processes: []*process{drew("a", 1, span{at(0, 2), 1})}, want: []string{foreign}},
		"another attempt":       {processes: []*process{drew("a", 2, span{at(0, 1), 1})}, want: []string{foreign}},
		"nobody":                {processes: []*process{drew("z", 1, span{at(0, 1), 1})}, want: []string{foreign}},
		"given back":            {processes: []*process{drew("b", 2, span{at(5500, 1), 1})}, want: []string{returned}},
		"across a tick":         {processes: []*process{drew("a", 1, span{at(2900, 1), 1025})}, want: []string{foreign}},
		"one id twice":          {processes: append(slices.Clone(good), drew("c", 1, span{at(5500, 1) + 9, 5})), repeats: 1, want: []string{twice}},
		"many ids twice":        {processes: append(slices.Clone(good), drew("a", 1, span{at(0, 1), 1024})), repeats: 1024, want: []string{twice}},
		"twice in one process":  {processes: []*process{drew("a", 1, span{at(0, 1), 5}, span{at(0, 1) + 4, 5})}, repeats: 1, want: []string{order, twice}},
		"a long one over short": {processes: []*process{drew("a", 1, span{at(0, 1), 100}), drew("a", 1, span{at(0, 1) + 10, 1}, span{at(0, 1) + 20, 1})}, repeats: 2, want: []string{twice}},
		"backwards":             {processes: []*process{drew("a", 1, span{at(100, 1), 5}, span{at(0, 1), 5})}, want: []string{order}},
		"zero":                  {processes: []*process{drew("d", 1, span{0, 1})}, want: []string{foreign, negative}},
		"a token twice": {history: func(h []version) []version {
			h[3].Token = "t2"
			return h
		}, want: []string{broken}},
		"time taken back by an extension": {history: func(h []version) []version {
			h[1].ReservedUntil = since(1000)
			return h
		}, want: []string{broken}},
		"time taken back by an acquirer": {history: func(h []version) []version {
			h[2].ReservedUntil = since(2900)
			return h[:3]
		}, want: []string{broken}},
		"more given back than was had": {history: func(h []version) []version {
			h[4].ReservedUntil = since(2900)
			return h
		}, want: []string{broken}},
		"granted more": {processes: []*process{{order: good[0].order, grants: []grant{{1, 1, 0, since(3001)}}}}, want: []string{granted}},
		"granted":      {processes: []*process{{order: good[0].order, grants: []grant{{1, 1, 0, since(2000)}}}}},
		"granted, from too early": {
			processes: []*process{{order: good[1].order, grants: []grant{{2, 1, since(2999), since(5000)}}}}, want: []string{granted},
		},
	} {
		t.Run(name, func(t *testing.T) {
			history := someHistory()
			if test.history != nil {
				history = test.history(history)
			}
			v, _ := judge(ticks{layouts[0]}, test.processes, history)
			if got := slices.Sorted(maps.Keys(v.faults)); v.repeats != test.repeats || !slices.Equal(got, slices.Sorted(slices.Values(test.want))) {
				t.Errorf("%d repeats, faults %q; want %d and %q\n%s", v.repeats, got, test.repeats, test.want, &v)
			}
		})
	}
}

func TestTenures(t *testing.T) {
	all, faults := tenures(someHistory())
	want := []tenure{
		{holder: holder{"a", 1}, number: 1, from: 0, until: since(3000)},
		{holder: holder{"b", 2}, number: 1, from: since(3000), until: since(6000), released: true, rest: since(5500), takeover: true},
		{holder: holder{"c", 1}, number: 1, from: since(5500), until: since(8000)},
	}
	if len(faults) > 0 || len(all) != len(want) {
		t.Fatalf("%d tenures, faults %q", len(all), faults)
	}
	for i := range want {
		if *all[i] != want[i] {
			t.Errorf("%+v, want %+v", *all[i], want[i])
		}
	}
}

// Consecutive ids are kept as one span, but not over the end of a tick.
func TestSpans(t *testing.T) {
	p := drew("a", 1, span{at(0, 1), 1000}, span{at(0, 1) + 1000, 20}, span{at(0, 1) + 1020, 8}, span{at(100, 1), 1})
	want := []span{{at(0, 1), 1024}, {at(0, 2), 4}, {at(100, 1), 1}}
	if !slices.Equal(p.spans[0], want) || len(p.disorder) > 0 {
		t.Errorf("%v, %q, want %v", p.spans[0], p.disorder, want)
	}
}

// What is written is read back, and a record that was cut short is told from an end.
func TestRecords(t *testing.T) {
	records := []record{
		{kind: recordIDs, numbers: [4]int64{1, 1 << 62, 8192}},
		{kind: recordGrant, numbers: [4]int64{3, -1, 0, since(5)}},
		{kind: recordFatal, text: "why"},
		{kind: recordClosed},
	}
	var wire bytes.Buffer
	newRecorder(&wire).write(records...)
	in := bufio.NewReader(bytes.NewReader(wire.Bytes()))
	for _, want := range records {
		if got, err := readRecord(in); got != want || err != nil {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
	if _, err := readRecord(in); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
	if _, err := readRecord(bufio.NewReader(bytes.NewReader(wire.Bytes()[:3]))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("in the middle: %v", err)
	}
}
