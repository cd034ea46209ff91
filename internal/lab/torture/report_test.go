//go:build linux

package torture

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// result is what came of a run.
type result struct {
	verdict
	ids     int64
	events  map[string]int
	missing []string // events that did not happen, though the run needs them
}

// result counts the events of a run that has ended.
func (r *run) result(v verdict, counter int64) result {
	out := result{verdict: v, ids: r.ids.Load(), events: r.events}
	for _, one := range v.tenures {
		if one.takeover {
			out.events["takeovers"]++
		}
		if one.released {
			out.events["numbers given back"]++
		}
	}
	for _, p := range r.processes {
		out.events["ids of "+string(p.Kind)] += int(p.total())
		out.events["losses noticed"] += int(p.losses.Load())
		for event, n := range p.events {
			out.events[event] += int(n)
		}
	}
	if counter > 1 {
		out.events["ids that no process drew"] = int(counter-1+v.repeats) - out.events["ids of segment"]
	}
	for _, event := range r.wants {
		if out.events[event] == 0 {
			out.missing = append(out.missing, event)
		}
	}
	return out
}

// String has a line of events, and the faults.
func (r *result) String() string {
	var events []string
	for _, event := range slices.Sorted(maps.Keys(r.events)) {
		events = append(events, fmt.Sprintf("%s %d", event, r.events[event]))
	}
	return fmt.Sprintf("ids %d, repeats %d, %s\n%s", r.ids, r.repeats, strings.Join(events, ", "), r.verdict.String())
}

// wantsOf returns the events that have to happen in a run of every kind of generator.
func wantsOf(b *backend) []string {
	wants := []string{
		"kills (-9)", "pauses", "clean restarts", "numbers given back", "takeovers", "losses noticed",
		"clock steps forward", "clock steps back",
	}
	for _, k := range clocked {
		wants = append(wants, "ids of "+string(k))
	}
	if b.counters {
		wants = append(wants, "ids of segment", "counter restored")
	}
	if len(b.servers) == 0 {
		return append(wants, "file locks")
	}
	return append(wants, "server outages", "connections cut", "blackholes")
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
		fmt.Fprintf(&text, "%s: %s; %d ids, %v, %d losses, clock %v; had %s\n",
			p.Host, p.Kind, p.total(), p.events, p.losses.Load(), p.shift, listed(had[p.Host]))
	}
	return text.String()
}
