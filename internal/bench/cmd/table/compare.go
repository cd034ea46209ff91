package main

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/uidring/uidring/internal/bench"
)

// compareTable has a row for each implementation, by one id a call, and one for
// each way of taking many.
func compareTable(p *page, r *results) {
	p.text("`×` columns are ratios to the floor in the same column of ns/id. The cap is by design, " +
		"whatever the machine; a figure that sits at its cap tells nothing about the code.")
	header := []string{"generator", ">ns/id, 1 goroutine"}
	if all() > 1 {
		header = append(header, fmt.Sprintf(">ns/id, %d goroutines on %d cores", all(), all()))
	}
	header = append(header, ">allocs/op", "cap by design", ">×, one")
	if all() > 1 {
		header = append(header, ">×, all")
	}
	p.header(append(header, "clock read per id", "what it gives up")...)
	for _, impl := range bench.All() {
		compareRow(p, r, impl, impl.Name)
		for _, batch := range bench.Batches() {
			if batch.Name == impl.Name {
				compareRow(p, r, batch, batchName(impl.Name))
			}
		}
	}
	p.gap()
	for _, impl := range bench.All() {
		if impl.Setup != "" {
			p.item("`%s`: %s.", impl.Name, impl.Setup)
		}
	}
	p.gap()
	repeats(p, r)
}

func compareRow(p *page, r *results, impl bench.Impl, name string) {
	row := []string{label(impl)}
	for _, goroutines := range oneAndAll() {
		row = append(row, r.cell(name, goroutines).PerID.spread())
	}
	row = append(row, fmt.Sprint(int(r.cell(name, 1).allocsPerCall()+0.001)), impl.Cap)
	for _, goroutines := range oneAndAll() {
		row = append(row, figure(r.cell(name, goroutines).over(r.cell("floor", goroutines))))
	}
	clock := "no"
	if impl.ReadsClock {
		clock = "yes"
	}
	p.row(append(row, clock, impl.GivesUp)...)
}

func label(impl bench.Impl) string {
	text := impl.Package
	if version := versionOf(impl.Package); version != "" {
		path, call, _ := strings.Cut(text, ",")
		text = strings.TrimSpace(path + " " + version + call)
	}
	if impl.Kind == bench.Ours {
		text = "**" + text + "**"
	}
	return text
}

// repeats names the peers that were measured past the rate at which their ids
// are unique.
func repeats(p *page, r *results) {
	for _, impl := range bench.All() {
		if impl.RepeatsPast == 0 {
			continue
		}
		for _, goroutines := range oneAndAll() {
			if rate := r.cell(impl.Name, goroutines).perSecond(); rate > impl.RepeatsPast {
				p.item("`%s` ran at %.1f million ids a second with %s. Its ids are unique up to %.1f million: "+
					"the figure is that of a generator that repeats itself.",
					impl.Name, rate/1e6, counted(goroutines), impl.RepeatsPast/1e6)
			}
		}
	}
	p.gap()
}

func counted(goroutines int) string {
	if goroutines == 1 {
		return "1 goroutine"
	}
	return fmt.Sprintf("%s goroutines", humanize.Comma(int64(goroutines)))
}

// borrowTable has ours only: nobody else runs ahead of the clock on purpose.
func borrowTable(p *page, r *results) {
	p.text("`Cached` pays for a burst with time: it stamps ids with seconds that have not come yet, as many " +
		"as the burst needs. The default layout has 8,192 ids a second, so a second in which a loop does " +
		"nothing but take ids costs hours. Here `MaxBorrow` is unbounded; by default it is 24 h, some 700 " +
		"million ids, and at it `Next` fails or waits, as `RejectedTake` has it. `Default` never borrows: it waits.")
	p.header("call", ">goroutines", ">ns/id", ">million ids/s", ">borrowed at the end of a sample, s",
		">refills per million ids", ">helps per million ids", ">failed")
	for _, name := range []string{"cached", batchName("cached"), "default", batchName("default")} {
		for _, goroutines := range oneAndAll() {
			c := r.cell(name, goroutines)
			row := []string{"`" + name + "`", humanize.Comma(int64(goroutines)), c.PerID.spread(), figure(c.perSecond() / 1e6)}
			if len(c.Ring) == 0 {
				p.row(append(row, "none", "–", "–", "–")...)
				continue
			}
			p.row(append(row,
				each(c.Ring, borrowed).spread(),
				figure(each(c.Ring, func(r ring) float64 { return r.Refills / r.Issued * 1e6 }).median()),
				figure(each(c.Ring, func(r ring) float64 { return r.Helps / r.Issued * 1e6 }).median()),
				figure(each(c.Ring, func(r ring) float64 { return r.Failed }).median()))...)
		}
	}
	p.gap()
	p.text("A refill is made by the generator's own goroutine, from the threshold up; a help by a call that found the " +
		"ring empty and filled one tick's run itself. A loop that does nothing else may outrun the refills, so helps are normal here.")
}
