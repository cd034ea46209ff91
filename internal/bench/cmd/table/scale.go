package main

import (
	"fmt"

	"github.com/dustin/go-humanize"
)

func crowdTable(p *page, r *results) {
	p.text("ns/id by the number of goroutines that share one generator, on %d cores. Past the number of cores "+
		"they take turns, and a loop without a pause holds its core for a whole turn.", all())
	header := []string{">goroutines"}
	for _, name := range crowd {
		header = append(header, ">`"+name+"`")
	}
	p.header(append(header, ">borrowed by `cached`, s")...)
	for _, goroutines := range crowds() {
		row := []string{humanize.Comma(int64(goroutines))}
		for _, name := range crowd {
			row = append(row, r.cell(name, goroutines).PerID.spread())
		}
		p.row(append(row, figure(each(r.cell("cached", goroutines).Ring, borrowed).median()))...)
	}
	p.gap()
}

func ringTable(p *page, r *results) {
	p.text("`Cached.Next` with the default layout and a refill at 50 %%.")
	header := []string{">BoostPower", ">ids in the ring"}
	for _, goroutines := range oneAndAll() {
		header = append(header, ">ns/id, "+counted(goroutines))
	}
	p.header(append(header, ">borrowed at the end of a sample, s")...)
	for _, boost := range boosts {
		row := []string{fmt.Sprint(boost), humanize.Comma(8192 << boost)}
		for _, goroutines := range oneAndAll() {
			row = append(row, r.cell(boostName(boost), goroutines).PerID.spread())
		}
		p.row(append(row, figure(each(r.cell(boostName(boost), 1).Ring, borrowed).median()))...)
	}
	p.gap()
	p.text("Memory of a generator: what the heap holds more after %d of them were made and used for two laps, "+
		"by the garbage collector's account, divided by %d. The stack of its one goroutine is not in it.",
		generators, generators)
	p.header("layout", ">BoostPower", ">ids in the ring", ">heap, bytes", ">bytes an id")
	for _, f := range r.Memory {
		p.row(f.Layout, fmt.Sprint(f.Boost), humanize.Comma(int64(f.Slots)), f.Heap.spread(), figure(f.bytesPerID()))
	}
	p.gap()
}

func latencyTable(p *page, r *results) {
	p.text(`
One goroutine makes a call every %v by a spin on the monotonic clock, refills and all. A latency
counts from when the call was **meant** to start, so that calls held up by a slow one count as slow
too. The first row is the meter without a generator: readings of the clock, and whatever else the
machine did. What a generator adds is the difference to it; what other programs and the host of a
virtual machine add is in every row, and most of what is in the last columns. A refill is made by the generator's own
goroutine, a help by a call that found the ring empty and filled a run of it.
`, interval)
	p.header("call", ">p50, ns", ">p99, ns", ">p99.99, ns", ">max, ns", ">million calls/s", ">refills + helps", ">borrowed, s")
	for _, row := range r.Latency {
		cells := []string{row.What}
		for _, q := range row.Quantiles {
			cells = append(cells, q.spread())
		}
		ahead, refills := "none", "none"
		if len(row.Ring) > 0 {
			ahead = figure(each(row.Ring, borrowed).median())
			refills = fmt.Sprintf("%s + %s", figure(each(row.Ring, func(r ring) float64 { return r.Refills }).median()),
				figure(each(row.Ring, func(r ring) float64 { return r.Helps }).median()))
		}
		p.row(append(cells, fmt.Sprintf("%.3f", row.Rate.median()/1e6), refills, ahead)...)
	}
	p.gap()
	p.text("The meter reads the monotonic clock only; `time.Now()`, which reads the wall clock too, costs %s ns on this "+
		"machine. `Default` with its own layout has no row: it has 8,192 ids a second, and at this pace it would be "+
		"waiting for the next one.", figure(r.cell("time-now", 1).PerID.median()))
}
