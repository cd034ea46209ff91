//go:build linux

package torture

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/uidring/uidring/worker/lease/leasestore"
)

// verdict has the result of a run's checks.
type verdict struct {
	repeats int64               // ids that came more than once
	faults  map[string][]string // by kind, what shows each
	tenures []*tenure           // of all rows
}

func (v *verdict) add(kind, example string) {
	if v.faults == nil {
		v.faults = map[string][]string{}
	}
	v.faults[kind] = append(v.faults[kind], example)
}

// String returns the kinds of faults, with up to five examples of each.
func (v *verdict) String() string {
	var text strings.Builder
	for kind, all := range v.faults {
		fmt.Fprintf(&text, "%s: %d times, such as:\n\t%s\n", kind, len(all), strings.Join(all[:min(5, len(all))], "\n\t"))
	}
	return text.String()
}

// judge compares what the processes reported with each other, and with the rows at the
// end.
func judge(processes []*process, rows []leasestore.Row) (v verdict) {
	versions, faults := history(rows, processes)
	all, more := tenures(versions)
	v.tenures = all
	for _, text := range append(faults, more...) {
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
		if noticed, want := p.rewound.Load(), p.refuses.Load(); noticed != want {
			v.add("a restored counter is noticed by others than those who had more", fmt.Sprintf("%s: %v, want %v", p.Host, noticed, want))
		}
		own := merged(p.ranges)
		for _, s := range slices.Concat(p.spans[:]...) {
			if s.first <= 0 || s.first+(s.n-1) < s.first {
				v.add("an id is not positive", fmt.Sprintf("%s: %d ids from %d", p.Host, s.n, s.first))
			}
			switch {
			case p.Kind == kindCounter:
				v.reserved(p, s, own)
			case p.Leaser.recorded():
				v.owned(p, s, byHolder[holder{p.Host, p.attempt}])
			}
		}
		for _, g := range p.grants {
			if p.Leaser.recorded() {
				v.granted(p, g, byHolder[holder{p.Host, g.attempt}])
			}
		}
	}
	v.unique(processes, func(p *process) bool { return p.Kind == kindCounter })
	v.unique(processes, func(p *process) bool { return p.Kind != kindCounter })
	return v
}

// merged returns ranges in ascending order, and joins ranges that touch.
func merged(ranges []span) (all []span) {
	ranges = slices.SortedFunc(slices.Values(ranges), func(a, b span) int { return cmp.Compare(a.first, b.first) })
	for _, r := range ranges {
		if k := len(all); k > 0 && r.first <= all[k-1].first+all[k-1].n {
			all[k-1].n = max(all[k-1].n, r.first+r.n-all[k-1].first)
			continue
		}
		all = append(all, r)
	}
	return all
}

// reserved checks that each id of the counter lies in a range that its process had
// reserved and not given back.
func (v *verdict) reserved(p *process, s span, own []span) {
	if !slices.ContainsFunc(own, func(r span) bool { return r.first <= s.first && s.first+s.n <= r.first+r.n }) {
		v.add("an id is of no range of its process", fmt.Sprintf("%s: %s; it had %v", p.Host, p.describe(s.first, s.n), own))
	}
	if slices.ContainsFunc(p.returns, s.meets) {
		v.add("an id was given back that is drawn", fmt.Sprintf("%s: %s; it gave back %v", p.Host, p.describe(s.first, s.n), p.returns))
	}
}

// owned checks that a process had reserved the tick of its ids, under their number, and
// had not given the tick back.
func (v *verdict) owned(p *process, s span, tenures []*tenure) {
	begin, end := p.tick(s.first)
	kind := "a tick is another's, or nobody's"
	for _, one := range tenures {
		if one.number != p.worker(s.first) || begin < one.from || end > one.until {
			continue
		}
		if end <= one.end() {
			return
		}
		kind = "a tick was given back that is stamped"
	}
	v.add(kind, fmt.Sprintf("%s: %s; it had %s", p.Host, p.describe(s.first, s.n), listed(tenures)))
}

// granted checks that every grant that a process received was reserved.
func (v *verdict) granted(p *process, g grant, tenures []*tenure) {
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

// unique counts the ids that came more than once, of the processes that about selects.
func (v *verdict) unique(processes []*process, about func(*process) bool) {
	type owned struct {
		span
		by *process
	}
	var all []owned
	for _, p := range processes {
		if about(p) {
			for _, s := range slices.Concat(p.spans[:]...) {
				all = append(all, owned{s, p})
			}
		}
	}
	slices.SortFunc(all, func(a, b owned) int { return cmp.Compare(a.first, b.first) })
	var reach owned // of those so far the one with the greatest id
	for _, s := range all {
		if twice := min(reach.first+reach.n, s.first+s.n) - s.first; reach.by != nil && twice > 0 {
			v.repeats += twice
			v.add("ids come twice", fmt.Sprintf("%s and %s: %s", reach.by.Host, s.by.Host, s.by.describe(s.first, twice)))
		}
		if reach.by == nil || s.first+s.n > reach.first+reach.n {
			reach = s
		}
	}
}
