//go:build linux

package torture

import (
	"fmt"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// gapFrom is the shortest time without ids that counts as a gap. Shorter times are the
// children's pauses between draws.
const gapFrom = 200 * time.Millisecond

// pulse measures how long no ids came. It is safe for concurrent use.
type pulse struct {
	mu      sync.Mutex
	last    time.Time
	longest time.Duration
	without time.Duration // the sum of all gaps
}

func (p *pulse) beat(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	gap := now.Sub(p.last)
	p.longest = max(p.longest, gap)
	if gap > gapFrom {
		p.without += gap
	}
	if gap > 0 {
		p.last = now
	}
}

// report has the lines about the result of a run.
type report struct {
	name  string
	ids   int64
	lines [][2]string
	// missing has the events that did not happen, though the run needs them.
	missing []string
}

func (r *report) line(name, format string, args ...any) {
	r.lines = append(r.lines, [2]string{name, fmt.Sprintf(format, args...)})
}

// report returns the report of a run.
func (r *run) report(v verdict, all []*tenure, counter int64) *report {
	unused := int64(0)
	for _, one := range all {
		if one.takeover {
			r.events["takeovers"]++
		}
		if one.released {
			r.events["numbers given back"]++
		}
		if one.used > 0 {
			unused = max(unused, one.end()-one.used)
		}
	}
	for _, p := range r.processes {
		r.events["ids of "+string(p.Kind)] += int(p.total())
		r.events["losses noticed"] += int(p.losses.Load())
		for event, n := range p.events {
			r.events[event] += int(n)
		}
	}
	var without, longest time.Duration
	for _, s := range r.seats {
		without += s.pulse.without
		longest = max(longest, s.pulse.longest)
	}
	out := &report{name: r.backend.name, ids: r.ids.Load()}
	tell := func(events ...string) {
		for _, event := range events {
			out.line(event, "%d", r.events[event])
		}
	}
	// need tells of events that have to happen at least once, where they can.
	need := func(can bool, events ...string) {
		for _, event := range events {
			if !can {
				out.line(event, "-")
				continue
			}
			tell(event)
			if r.events[event] == 0 {
				out.missing = append(out.missing, event)
			}
		}
	}
	server, counting := len(r.backend.servers) > 0, r.backend.counters && r.only == ""
	out.line("layout", "%d bits a tick of %v", r.layout.SequenceBits, r.layout.Unit)
	out.line("seconds", "%.1f", r.took.Seconds())
	out.line("ids", "%d", out.ids)
	for _, k := range append(clocked, kindCounter) {
		need(r.only == "" && (k != kindCounter || counting) || r.only == k, "ids of "+string(k))
	}
	out.line("processes started", "%d", len(r.processes))
	need(true, "kills (-9)", "pauses", "clean restarts", "numbers given back", "takeovers", "losses noticed")
	tell("number changes")
	need(true, "clock steps forward", "clock steps back")
	need(server, "server outages", "connections cut", "blackholes")
	need(!server, "file locks")
	tell("starts refused", "of them for want of time")
	out.line("most time reserved in vain", "%v", (time.Duration(unused) * time.Millisecond).Round(100*time.Millisecond))
	tell("returns of ranges")
	need(counting, "counter restored")
	if counting {
		tell("ids returned to the counter")
		out.line("ids lost in gaps", "%.1f%%", 100*(1-float64(int64(r.events["ids of segment"])-v.repeats)/float64(counter-1)))
	} else {
		out.line("ids returned to the counter", "-")
		out.line("ids lost in gaps", "-")
	}
	for _, why := range []string{noneReserved, noneLost, noneBorrow, noneBackward, noneFull, noneUnavailable, noneRewound} {
		tell("refusals: " + why)
	}
	out.line("longest without ids, all", "%.2fs", r.pulse.longest.Seconds())
	out.line("longest without ids, a seat", "%.2fs", longest.Seconds())
	out.line("time without ids, all", "%.1f%%", 100*r.pulse.without.Seconds()/r.took.Seconds())
	out.line("time without ids, a seat", "%.1f%%", 100*without.Seconds()/r.took.Seconds()/float64(len(r.seats)))
	out.line("repeats", "%d", v.repeats)
	out.line("faults", "%d", v.count())
	return out
}

// who describes each process, its end and its numbers, to help find the reason of a fault.
// All processes have ended.
func (r *run) who(all []*tenure) string {
	had := map[string][]*tenure{}
	for _, one := range all {
		had[one.host] = append(had[one.host], one)
	}
	var text strings.Builder
	for _, p := range r.processes {
		fmt.Fprintf(&text, "%s: %s, exact %d, wait %v, modest %v; %d ids, %v, %d losses, clock %v; had %s\n",
			p.Host, p.Kind, p.Exact, p.Wait, p.Modest, p.total(), p.events, p.losses.Load(), p.shift, listed(had[p.Host]))
	}
	return text.String()
}

// table returns reports side by side.
func table(reports []*report) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "backend")
	for _, r := range reports {
		fmt.Fprint(w, "\t", r.name)
	}
	fmt.Fprintln(w)
	for i := range reports[0].lines {
		fmt.Fprint(w, reports[0].lines[i][0])
		for _, r := range reports {
			fmt.Fprint(w, "\t", r.lines[i][1])
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	return text.String()
}

// summary returns a line about how many ids came.
func summary(reports []*report) string {
	var parts []string
	for _, r := range reports {
		parts = append(parts, fmt.Sprintf("%s %d", r.name, r.ids))
	}
	return "ids of each: " + strings.Join(parts, ", ")
}
