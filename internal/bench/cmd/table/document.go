package main

import (
	"fmt"
	"strings"
	"time"
)

// document is all of BENCHMARKS.md.
func document(r *results, command string) string {
	p := new(page)
	p.WriteString("# Benchmarks\n\n")
	p.text(`
Every figure on this page comes from one run of one command, which also wrote the page. Do not edit
it: run the command again, in the folder of this module.

    %s
`, command)
	setting(p, r)
	method(p, r)

	p.heading("The bars")
	p.text(`What the project promises, as ratios of medians of this run.`)
	barTable(p, r)

	p.heading("Against peers")
	compareTable(p, r)

	p.heading("Where ours loses")
	losses(p, r)

	p.heading("Throughput and borrowed time")
	borrowTable(p, r)

	p.heading("Cost against the number of goroutines")
	crowdTable(p, r)

	p.heading("Cost and memory against the size of the ring")
	ringTable(p, r)

	p.heading("Latency at a million ids a second")
	latencyTable(p, r)
	return strings.TrimRight(p.String(), "\n") + "\n"
}

func setting(p *page, r *results) {
	p.header("", "")
	p.row("CPU", r.Machine.CPU)
	p.row("cores", fmt.Sprintf("%d, GOMAXPROCS %d", r.Machine.Cores, r.Machine.GOMAXPROCS))
	p.row("Go", r.Machine.Go+", "+r.Machine.Platform)
	p.row("rounds", fmt.Sprintf("%d, each visiting every cell for %v and every paced run for %v",
		r.Count, r.Time, r.Paced))
	p.row("run", fmt.Sprintf("%s, took %v", r.Started.UTC().Format("2006-01-02 15:04 MST"), r.Took.Round(time.Second)))
	p.row("disturbed", fmt.Sprintf("%d of %d samples", r.Calm.Disturbed, r.Calm.Samples))
	p.gap()
	if r.Calm.Disturbed > 0 {
		p.text("A sample is disturbed when other programs held cores that it needed, or hardware threads beside them, " +
			"at its start or its end. These were kept, because the patience for better ones had run out. Where a core " +
			"was shared, a sample is too dear, most of all for what keeps a core busy; where one was missing, samples " +
			"on all cores are too cheap for what contends, since its goroutines took turns instead.")
	}
}

func method(p *page, r *results) {
	p.heading("How to read the figures")
	p.text(`
A figure is a **median** over the rounds, with the least and the greatest sample in parentheses. Rounds
are interleaved: floor, ours, floor, peers, floor, so that a busy minute of the machine touches all
columns alike. The floor, measured %d times a round, is an atomic counter on cache lines of its own:
the least that a number unique within a process can cost.

"ns/id" is wall time over the ids of **all** goroutines, as testing's RunParallel has it. What scales
perfectly costs 1/%d on all cores; what is limited by one contended cache line costs more than on one
core. Each loop calls its generator directly, not through an interface, checks the error where there
is one, and uses the id. An instance lives for one sample; starting it, warming it up and closing it
are not measured, while work that it does in the background is. Where more than one goroutine runs,
their threads start on cores of their own; some kernels would leave two of them on one.

Before and after each sample a probe, arithmetic that shares nothing, tells whether as many cores were
to be had as the sample needed, each of them whole. If not, the sample is taken again, as long as
patience lasts.
`, 3, all())
}

func barTable(p *page, r *results) {
	p.header("what", "bar", "measured", "")
	for _, b := range r.bars() {
		verdict := "pass"
		if !b.Pass {
			verdict = "**FAIL**"
		}
		p.row(b.What, b.Want, b.Measured, verdict)
	}
	p.gap()
	if all() > 1 {
		ratio := r.cell("default", all()).over(r.cell("time-now", all()))
		p.text("Not a bar: on all cores `Default.Next` costs %.2f × `time.Now()`. Readings of the clock "+
			"share nothing, so they scale perfectly; ids from one sequence cannot.", ratio)
	}
}
