//go:build linux

package torture

import (
	"fmt"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// tally counts the actions on processes and the backend.
type tally struct {
	killed, paused, closed, forward, back int
	outages, locks, cut, blackholes       int
	restores, partitions                  int
}

// gapFrom is the shortest time without ids that counts as a gap. Shorter times are the
// children's pauses between draws.
const gapFrom = 200 * time.Millisecond

// pulse measures how long no ids came. It is safe for concurrent use.
type pulse struct {
	mu      sync.Mutex
	began   time.Time
	last    time.Time
	longest time.Duration
	without time.Duration // the sum of all gaps
	total   time.Duration // set by end
}

func (p *pulse) begin() { p.began, p.last = time.Now(), time.Now() }

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

func (p *pulse) end(now time.Time) {
	p.beat(now)
	p.total = now.Sub(p.began)
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

// counted is a line about an event that has to happen at least once, where it can.
func (r *report) counted(name string, n int, can bool) {
	if !can {
		r.line(name, "-")
		return
	}
	if n == 0 {
		r.missing = append(r.missing, name)
	}
	r.line(name, "%d", n)
}

// report returns the report of a run.
func (r *run) report(v verdict, all []*tenure, counter int64) *report {
	var takeovers, returns, losses, changes, refused, dry int
	unused := int64(0)
	for _, one := range all {
		if one.takeover {
			takeovers++
		}
		if one.released {
			returns++
		}
		if one.used > 0 {
			unused = max(unused, one.end()-one.used)
		}
	}
	var nones [noneKinds]int64
	var returned int64
	var giving, warned int
	drawn := map[kind]int64{}
	for _, p := range r.processes {
		drawn[p.Kind] += p.total()
		returned += p.returned
		giving += p.giving
		warned += p.warned
		losses += int(p.losses.Load())
		changes += int(p.changes.Load())
		refused += int(p.refused.Load())
		dry += int(p.dry.Load())
		for i, n := range p.nones {
			nones[i] += n
		}
	}
	var without, total, longest time.Duration
	for _, s := range r.seats {
		without += s.pulse.without
		total += s.pulse.total
		longest = max(longest, s.pulse.longest)
	}
	server, counting := len(r.backend.servers) > 0, r.backend.counters && r.only == ""
	seconds := r.pulse.total.Seconds()
	out := &report{name: r.backend.name, ids: r.ids.Load()}
	out.line("layout", "%d bits a tick of %v", r.layout.SequenceBits, r.layout.Unit)
	out.line("seconds", "%.1f", seconds)
	out.line("ids", "%d", out.ids)
	for _, k := range append(clocked, kindCounter) {
		out.counted("ids of "+string(k), int(drawn[k]), r.only == "" && (k != kindCounter || counting) || r.only == k)
	}
	out.line("processes started", "%d", len(r.processes))
	out.counted("kills (-9)", r.tally.killed, true)
	out.counted("pauses", r.tally.paused, true)
	out.counted("clean restarts", r.tally.closed, true)
	out.counted("numbers given back", returns, true)
	out.counted("takeovers", takeovers, true)
	out.counted("losses noticed", losses, true)
	out.line("number changes", "%d", changes)
	out.counted("clock steps forward", r.tally.forward, true)
	out.counted("clock steps back", r.tally.back, true)
	out.counted("server outages", r.tally.outages, server)
	out.counted("connections cut", r.tally.cut, server)
	out.counted("blackholes", r.tally.blackholes, server)
	out.counted("file locks", r.tally.locks, !server)
	out.counted("partitions", r.tally.partitions, len(r.backend.namespaces) > 0)
	out.line("warnings of a server that does not flush", "%d", warned)
	out.line("starts refused", "%d", refused)
	out.line("of them for want of time", "%d", dry)
	out.line("most time reserved in vain", "%v", (time.Duration(unused) * time.Millisecond).Round(100*time.Millisecond))
	out.line("returns of ranges", "%d", giving)
	out.counted("counter restored", r.tally.restores, counting)
	if counting {
		out.line("ids returned to the counter", "%d", returned)
		out.line("ids lost in gaps", "%.1f%%", 100*(1-float64(drawn[kindCounter]-v.repeats)/float64(counter-1)))
	} else {
		out.line("ids returned to the counter", "-")
		out.line("ids lost in gaps", "-")
	}
	for i, name := range noneNames {
		out.line("refusals: "+name, "%d", nones[i])
	}
	out.line("longest without ids, all", "%.2fs", r.pulse.longest.Seconds())
	out.line("longest without ids, a seat", "%.2fs", longest.Seconds())
	out.line("time without ids, all", "%.1f%%", 100*r.pulse.without.Seconds()/seconds)
	out.line("time without ids, a seat", "%.1f%%", 100*without.Seconds()/total.Seconds())
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
		fmt.Fprintf(&text, "%s: %s, exact %d, wait %v, modest %v; %d ids, %d starts refused, no ids %v, %d losses, clock %v; had %s\n",
			p.Host, p.Kind, p.Exact, p.Wait, p.Modest, p.total(), p.refused.Load(), p.nones, p.losses.Load(), p.shift, listed(had[p.Host]))
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
