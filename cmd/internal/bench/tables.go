package main

import (
	"fmt"

	"github.com/uidring/uidring/cmd/internal/measure"
	"github.com/uidring/uidring/uid"
)

// refills returns how often a ring was filled, or ids were loaded.
func refills(s uid.Stats) float64 {
	if s.Loads != nil {
		return float64(s.Loads.Loads)
	}
	return float64(s.Ring.Refills)
}

// helps returns how often calls found a ring empty, and put ids themselves or waited for a load.
func helps(s uid.Stats) float64 {
	if s.Loads != nil {
		return float64(s.Starved)
	}
	return float64(s.Ring.Helps)
}

func failed(s uid.Stats) float64 { return float64(s.RejectedTakes) }

// perMillion returns a count per million issued ids.
func perMillion(figure func(uid.Stats) float64) func(uid.Stats) float64 {
	return func(s uid.Stats) float64 { return figure(s) / float64(s.Issued) * 1e6 }
}

// borrowedTable has only ours: no peer stamps ids ahead of the clock on purpose.
func (r *results) borrowedTable() string {
	rows := [][]string{{"call", "goroutines", ">ns/id", ">million ids/s", ">borrowed at the end of a sample, s",
		">refills per million ids", ">helps per million ids", ">failed"}}
	for _, row := range all() {
		for _, s := range r.settings {
			if row.Kind != ours {
				continue
			}
			c := r.cell(row.Name, s)
			line := []string{"`" + row.Name + "`", s.String(), bold(c.NsPerID), measure.Figure(c.PerSecond() / 1e6), bold(c.Borrowed())}
			for _, figure := range []func(uid.Stats) float64{perMillion(refills), perMillion(helps), failed} {
				line = append(line, measure.Figure(measure.Each(c.Ring, figure).Median()))
			}
			rows = append(rows, line)
		}
	}
	return table(rows...)
}

func (r *results) crowdTable() string {
	rows := [][]string{{">goroutines"}}
	for i, s := range crowds() {
		line := []string{number(s.Goroutines)}
		for _, row := range all() {
			if !row.Scales {
				continue
			}
			if i == 0 {
				rows[0] = append(rows[0], ">`"+row.Name+"`")
			}
			line = append(line, bold(r.cell(row.Name, s).NsPerID))
		}
		rows = append(rows, append(line, measure.Figure(r.cell(measure.CachedNext, s).Borrowed().Median())))
	}
	rows[0] = append(rows[0], ">borrowed by `Cached.Next`, s")
	return table(rows...)
}

func (r *results) ringTable() string {
	head := []string{">BoostPower", ">ids in the ring"}
	for _, s := range r.settings {
		head = append(head, ">ns/id, "+s.String())
	}
	rows := [][]string{append(head, ">heap, bytes", ">bytes an id")}
	for i, power := range boosts {
		f := r.memory[i]
		line := []string{fmt.Sprint(power), number(f.slots())}
		for _, s := range r.settings {
			line = append(line, bold(r.cell(boostName(power), s).NsPerID))
		}
		rows = append(rows, append(line, bold(f.Heap), measure.Figure(f.Heap.Median()/float64(f.slots()))))
	}
	return table(rows...)
}

func (r *results) latencyTable() string {
	head := []string{"call"}
	for _, q := range measure.Quantiles {
		head = append(head, fmt.Sprintf(">p%g, ns", q))
	}
	head[len(head)-1] = ">max, ns"
	rows := [][]string{append(head, ">p99.99 inside, ns", ">max inside, ns", ">million calls/s", ">refills", ">helps", ">borrowed, s")}
	for _, p := range r.paces {
		line := []string{"`" + p.Name + "`"}
		for _, latency := range p.Latency {
			line = append(line, bold(latency))
		}
		line = append(line, bold(p.Inside[2]), bold(p.Inside[3]), measure.Figure(p.Rate.Median()/1e6))
		for _, figure := range []func(uid.Stats) float64{refills, helps, measure.Borrowed} {
			line = append(line, measure.Figure(measure.Each(p.Ring, figure).Median()))
		}
		rows = append(rows, line)
	}
	return table(rows...)
}
