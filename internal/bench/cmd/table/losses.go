package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/uidring/uidring/internal/bench"
)

// losses first says what this run shows, then what no run could.
func losses(p *page, r *results) {
	p.text("In this run, of the peers and of what is made by hand (the floor is for the bars):")
	said := false
	say := func(format string, args ...any) {
		said = true
		p.item(format, args...)
	}
	for _, ours := range bench.All() {
		if ours.Kind != bench.Ours {
			continue
		}
		for _, goroutines := range crowds() {
			if list := r.faster(ours.Name, goroutines); len(list) > 0 {
				say("`%s` with %s is slower than %s.", ours.Name, counted(goroutines), strings.Join(list, ", "))
			}
		}
	}
	for _, b := range r.bars() {
		if !b.Pass {
			say("a bar was missed: %s, %s, measured %s.", b.What, b.Want, b.Measured)
		}
	}
	// A maximum is mostly the machine's: only what no round can explain is said.
	meter, ours := r.Latency[0].last(), r.Latency[2].last()
	if slices.Min(ours) > slices.Max(meter) {
		say("the slowest call of a paced run of `cached` took %s ns, that of the meter alone %s ns.",
			ours.spread(), meter.spread())
	}
	if !said {
		p.item("none was faster, and no bar was missed.")
	}
	p.gap()

	p.text("In any run:")
	p.item("**A worker number is needed**, from a table or by the caller's promise. UUID, ULID, KSUID, xid " +
		"and ObjectID need none: a process without any shared place to ask should take one of those.")
	p.item("**The stamp of `Cached` is not the moment of the call.** After a burst it lies ahead of the clock, in an idle " +
		"service behind it unless `MaxAge` is set. Snowflake and `Default` stamp the millisecond or second of the call.")
	p.item("**63 bits can be guessed and counted.** Two ids tell how many were made between them. A UUID of version 4 " +
		"gives nothing away, and so is fit for a link that must not be guessed.")
	p.item("**The rate that lasts is the layout's**: 8,192 ids a second for a worker by default. The nanoseconds above are " +
		"those of a burst. With `MaxBorrow` unbounded, a load that stays above it uses up the layout's years early.")
	p.item("**Order holds within a process.** Among processes it is as good as their clocks and what they have borrowed.")
	p.item("**An atomic counter is enough** where an id need not outlive the process.")
	p.gap()
}

// faster lists the rivals that cost less than the named one of ours, with figures.
// The floor is no rival, the bars are about it; nor is a reading of the clock,
// which makes no ids.
func (r *results) faster(name string, goroutines int) (list []string) {
	mine := r.cell(name, goroutines)
	for _, impl := range bench.All() {
		c := r.cell(impl.Name, goroutines)
		if rival := impl.Kind == bench.Peer || impl.Kind == bench.Handmade; !rival || c == nil {
			continue
		}
		if c.PerID.median() < mine.PerID.median() {
			list = append(list, fmt.Sprintf("`%s` (%s against %s ns)", impl.Name,
				figure(c.PerID.median()), figure(mine.PerID.median())))
		}
	}
	return list
}

// last is the greatest latency of each round.
func (p *pace) last() series { return p.Quantiles[len(quantiles)-1] }
