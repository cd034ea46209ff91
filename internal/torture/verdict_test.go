//go:build linux

package torture

import (
	"fmt"
	"slices"
	"strings"
)

// verdict is what became of a run.
type verdict struct {
	repeats int64 // ids that came more than once
	faults  map[string]*fault
}

// fault is one kind of what must not be, with some examples.
type fault struct {
	count    int64
	examples []string
}

// maxExamples is how many examples of a kind of fault are kept.
const maxExamples = 5

func (v *verdict) add(kind, example string) {
	if v.faults == nil {
		v.faults = map[string]*fault{}
	}
	f := v.faults[kind]
	if f == nil {
		f = &fault{}
		v.faults[kind] = f
	}
	f.count++
	if len(f.examples) < maxExamples {
		f.examples = append(f.examples, example)
	}
}

// count returns how many faults there are.
func (v *verdict) count() (n int64) {
	for _, f := range v.faults {
		n += f.count
	}
	return n
}

func (v *verdict) String() string {
	var text strings.Builder
	for kind, f := range v.faults {
		fmt.Fprintf(&text, "%s: %d times, such as:\n\t%s\n", kind, f.count, strings.Join(f.examples, "\n\t"))
	}
	return text.String()
}

// judge holds what the processes said against what the database committed.
func judge(t ticks, processes []*process, history []version) (v verdict, all []*tenure) {
	all, faults := tenures(history)
	for _, text := range faults {
		v.add("the history is broken", text)
	}
	byHolder := map[holder][]*tenure{}
	for _, one := range all {
		byHolder[one.holder] = append(byHolder[one.holder], one)
	}
	for _, p := range processes {
		for _, text := range p.disorder {
			v.add("ids do not ascend", text)
		}
		for _, spans := range p.spans {
			for _, s := range spans {
				v.owned(t, p, s, byHolder[holder{p.Host, p.attempt}])
			}
		}
		for _, g := range p.grants {
			v.reserved(p, g, byHolder[holder{p.Host, g.attempt}])
		}
	}
	v.unique(t, processes)
	return v, all
}

// owned checks that ids are positive, and that their tick was their process's when
// it stamped them: reserved for it under their number, and not given back.
func (v *verdict) owned(t ticks, p *process, s span, tenures []*tenure) {
	if s.first <= 0 || s.first+(s.n-1) < s.first {
		v.add("an id is not positive", fmt.Sprintf("%s: %d ids from %d", p.Host, s.n, s.first))
	}
	begin, end := t.span(s.first)
	kind := "a tick is another's, or nobody's"
	for _, one := range tenures {
		if one.number != t.number(s.first) || begin < one.from || end > one.until {
			continue
		}
		one.used = max(one.used, end)
		if end <= one.end() {
			return
		}
		kind = "a tick was given back that is stamped"
	}
	v.add(kind, fmt.Sprintf("%s: %s; it had %s", p.Host, t.describe(s.first, s.n), listed(tenures)))
}

// reserved checks that what a process was told that it owns is what the database
// had reserved for it.
func (v *verdict) reserved(p *process, g grant, tenures []*tenure) {
	if !slices.ContainsFunc(tenures, func(one *tenure) bool {
		return one.number == g.number && one.from <= g.from && g.until <= one.until
	}) {
		v.add("a grant is not what was reserved", fmt.Sprintf("%s: number %d from %d until %d; it had %s", p.Host, g.number, g.from, g.until, listed(tenures)))
	}
}

func listed(tenures []*tenure) string {
	var texts []string
	for _, one := range tenures {
		texts = append(texts, fmt.Sprintf("number %d from %d until %d", one.number, one.from, one.end()))
	}
	return strings.Join(texts, ", ")
}

// unique counts the ids that came more than once.
func (v *verdict) unique(t ticks, processes []*process) {
	type owned struct {
		span
		by *process
	}
	var all []owned
	for _, p := range processes {
		for _, spans := range p.spans {
			for _, s := range spans {
				all = append(all, owned{s, p})
			}
		}
	}
	slices.SortFunc(all, func(a, b owned) int {
		switch {
		case a.first < b.first:
			return -1
		case a.first > b.first:
			return 1
		}
		return 0
	})
	var reach owned // of those so far the one with the greatest id
	for _, s := range all {
		if twice := min(reach.first+reach.n, s.first+s.n) - s.first; reach.by != nil && twice > 0 {
			v.repeats += twice
			v.add("ids come twice", fmt.Sprintf("%s and %s: %s", reach.by.Host, s.by.Host, t.describe(s.first, twice)))
		}
		if reach.by == nil || s.first+s.n > reach.first+reach.n {
			reach = s
		}
	}
}
