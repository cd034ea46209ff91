//go:build linux

package torture

import (
	"maps"
	"slices"
	"testing"

	"github.com/uidring/uidring/worker/lease/leasestore"
)

// The tests of this file test the judge, without processes.

// at is the first id of the tick that begins ms after the epoch, under a number, in
// the layout short.
func at(ms, number int64) int64 { return (ms/100<<3 | number) << 10 }

// since is an instant of the history.
func since(ms int64) int64 { return epoch.UnixMilli() + ms }

func drew(kind kind, host string, attempt int64, spans ...span) *process {
	p := &process{order: order{Host: host, Kind: kind, Layout: short}, attempt: attempt}
	for _, s := range spans {
		p.add(0, s)
	}
	return p
}

// stamped is a process under numbers, with what it wrote.
func stamped(host string, attempt int64, spans ...span) *process {
	p := drew(kindCached, host, attempt, spans...)
	for _, v := range someHistory() {
		if v.holder == (holder{host, attempt}) {
			p.writes = append(p.writes, v)
		}
	}
	return p
}

// registered is a process with a number from a Registry.
func registered(host string, spans ...span) *process {
	p := drew(kindCached, host, 1, spans...)
	p.Leaser = leaserRegistry
	return p
}

// counted is a process that reserved ranges of a counter.
func counted(host string, ranges []span, spans ...span) *process {
	p := drew(kindCounter, host, 1, spans...)
	p.ranges = ranges
	return p
}

// someHistory: a has number 1 for three seconds and dies; b takes over, extends, and
// gives it back at five and a half; c goes on from there.
func someHistory() []version {
	return []version{
		{holder{"a", 1}, 1, "t1", "", since(2000), leasestore.Acquire},
		{holder{"a", 1}, 1, "t2", "t1", since(3000), leasestore.Extend},
		{holder{"b", 2}, 1, "t3", "t2", since(5000), leasestore.Acquire},
		{holder{"b", 2}, 1, "t4", "t3", since(6000), leasestore.Extend},
		{holder{"b", 2}, 1, "t5", "t4", since(5500), leasestore.Release},
		{holder{"c", 1}, 1, "t6", "t5", since(8000), leasestore.Acquire},
	}
}

// someRows returns the rows at the end of someHistory.
var someRows = []leasestore.Row{{Number: 1, Token: "t6", Until: since(8000)}}

func TestJudge(t *testing.T) {
	const (
		foreign  = "a tick is another's, or nobody's"
		returned = "a tick was given back that is stamped"
		twice    = "ids come twice"
		order    = "ids do not ascend"
		broken   = "the history is broken"
		negative = "an id is not positive"
		granted  = "a grant is not what was reserved"
		outside  = "an id is of no range of its process"
		back     = "an id was given back that is drawn"
		noticed  = "a restored counter is noticed by others than those who had more"
	)
	for name, test := range map[string]struct {
		more    []*process
		change  func(p []*process)
		rows    []leasestore.Row
		repeats int64
		want    []string
	}{
		"all is well":          {},
		"beyond the end":       {more: []*process{drew(kindCached, "a", 1, span{at(3000, 1) + 9, 1})}, repeats: 1, want: []string{foreign, twice}},
		"before the beginning": {more: []*process{drew(kindSlots, "b", 2, span{at(2800, 1), 1})}, want: []string{foreign}},
		"another number":       {more: []*process{drew(kindDefault, "a", 1, span{at(0, 2), 1})}, want: []string{foreign}},
		"another attempt":      {more: []*process{drew(kindCached, "a", 2, span{at(100, 1), 1})}, want: []string{foreign}},
		"nobody":               {more: []*process{drew(kindCached, "z", 1, span{at(100, 1), 1})}, want: []string{foreign}},
		"given back":           {more: []*process{drew(kindCached, "b", 2, span{at(5600, 1), 1})}, want: []string{returned}},
		"across a tick":        {more: []*process{drew(kindCached, "a", 1, span{at(2800, 0) + 1023, 2})}, want: []string{foreign}},
		"one id twice":         {more: []*process{drew(kindCached, "c", 1, span{at(5500, 1) + 9, 5})}, repeats: 1, want: []string{twice}},
		"many ids twice":       {more: []*process{drew(kindSlots, "a", 1, span{at(0, 1), 1024})}, repeats: 1024, want: []string{twice}},
		"twice in one process": {more: []*process{drew(kindCached, "a", 1, span{at(100, 1), 5}, span{at(100, 1) + 4, 5})}, repeats: 1, want: []string{order, twice}},
		"a long one over short": {
			more:    []*process{drew(kindCached, "a", 1, span{at(100, 1), 100}), drew(kindCached, "a", 1, span{at(100, 1) + 10, 1}, span{at(100, 1) + 20, 1})},
			repeats: 2, want: []string{twice},
		},
		"backwards":       {more: []*process{drew(kindCached, "a", 1, span{at(200, 1), 5}, span{at(100, 1), 5})}, want: []string{order}},
		"slots backwards": {more: []*process{drew(kindSlots, "a", 1, span{at(200, 1), 5}, span{at(100, 1), 5})}},
		"zero":            {more: []*process{drew(kindCached, "d", 1, span{0, 1})}, want: []string{foreign, negative}},
		"a token twice": {
			more: []*process{{order: good()[0].order, writes: []version{{holder{"a", 1}, 1, "t4", "t3", since(9000), leasestore.Extend}}}}, want: []string{broken, foreign},
		},
		"a token of nobody":               {rows: []leasestore.Row{{Number: 1, Token: "x", Until: since(8000)}}, want: []string{broken, foreign}},
		"a token of another number":       {rows: append(someRows, leasestore.Row{Number: 2, Token: "t6", Until: since(8000)}), want: []string{broken}},
		"a row that is not as written":    {rows: []leasestore.Row{{Number: 1, Token: "t6", Until: since(7000)}}, want: []string{broken}},
		"a write that is lost":            {change: func(p []*process) { p[0].done = []string{"t0"} }, want: []string{broken}},
		"time taken back by an extension": {change: func(p []*process) { p[1].writes[1].until = since(4000) }, want: []string{broken, foreign}},
		"time taken back by an acquirer":  {change: func(p []*process) { p[1].writes[0].until = since(2900) }, want: []string{broken}},
		"more given back than was had":    {change: func(p []*process) { p[1].writes[2].until = since(2900) }, want: []string{broken, returned}},
		"acquired by an extension":        {change: func(p []*process) { p[2].writes[0].change = leasestore.Extend }, want: []string{broken}},
		"given back twice": {
			change: func(p []*process) {
				p[1].writes = append(p[1].writes, version{holder{"b", 2}, 1, "t5'", "t5", since(5500), leasestore.Release})
				p[2].writes[0].old = "t5'"
			},
		},
		"given back twice, by less": {
			change: func(p []*process) {
				p[1].writes = append(p[1].writes, version{holder{"b", 2}, 1, "t5'", "t5", since(5400), leasestore.Release})
				p[2].writes[0].old = "t5'"
			},
			want: []string{broken},
		},
		"granted more":              {change: func(p []*process) { p[0].grants = []grant{{1, 1, 0, since(3001)}} }, want: []string{granted}},
		"granted":                   {change: func(p []*process) { p[0].grants = []grant{{1, 1, 0, since(2000)}} }},
		"granted, from too early":   {change: func(p []*process) { p[1].grants = []grant{{2, 1, since(2999), since(5000)}} }, want: []string{granted}},
		"a number without a record": {more: []*process{registered("r", span{at(0, 2), 5})}},
		"a Registry's number twice": {more: []*process{registered("r", span{at(0, 1) + 9, 5})}, repeats: 5, want: []string{twice}},
		"a counter's id twice":      {more: []*process{counted("t", []span{{1, 5}}, span{3, 2})}, repeats: 2, want: []string{twice}},
		"a counter's id of another": {more: []*process{counted("t", nil, span{11, 1})}, want: []string{outside}},
		"past the end of a range":   {change: func(p []*process) { p[3].add(1, span{30, 2}) }, want: []string{outside}},
		"between two ranges":        {change: func(p []*process) { p[3].add(1, span{19, 2}) }, want: []string{outside}},
		"a counter's id given back": {change: func(p []*process) { p[3].returns = []span{{10, 1}} }, want: []string{back}},
		"given back and not drawn":  {change: func(p []*process) { p[3].returns = []span{{26, 5}} }},
		"a restore is not noticed":  {change: func(p []*process) { p[3].refuses.Store(true) }, want: []string{noticed}},
		"a restore that was none":   {change: func(p []*process) { p[3].rewound.Store(true) }, want: []string{noticed}},
	} {
		t.Run(name, func(t *testing.T) {
			processes := good()
			if test.change != nil {
				test.change(processes)
			}
			rows := someRows
			if test.rows != nil {
				rows = test.rows
			}
			v := judge(append(processes, test.more...), rows)
			if got := slices.Sorted(maps.Keys(v.faults)); v.repeats != test.repeats || !slices.Equal(got, slices.Sorted(slices.Values(test.want))) {
				t.Errorf("%d repeats, faults %q; want %d and %q\n%s", v.repeats, got, test.repeats, test.want, &v)
			}
		})
	}
}

// good returns processes without a fault, with someHistory and ranges of a counter.
func good() []*process {
	return []*process{
		stamped("a", 1, span{at(0, 1), 1024}, span{at(2900, 1), 1024}),
		stamped("b", 2, span{at(3000, 1), 1024}, span{at(5400, 1), 1024}),
		stamped("c", 1, span{at(5500, 1), 10}),
		counted("s", []span{{6, 5}, {1, 5}, {21, 10}}, span{1, 10}, span{21, 5}),
	}
}

// Consecutive ids are kept as one span, but not over the end of a tick.
func TestSpans(t *testing.T) {
	p := drew(kindCached, "a", 1, span{at(0, 1), 1000}, span{at(0, 1) + 1000, 20}, span{at(0, 1) + 1020, 8}, span{at(100, 1), 1})
	want := []span{{at(0, 1), 1024}, {at(0, 2), 4}, {at(100, 1), 1}}
	if !slices.Equal(p.spans[0], want) || len(p.disorder) > 0 {
		t.Errorf("%v, %q, want %v", p.spans[0], p.disorder, want)
	}
}
