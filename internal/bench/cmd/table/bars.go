package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/uidring/uidring/internal/bench"
)

// bar is a promise about speed with what became of it.
type bar struct {
	What     string
	Want     string
	Measured string
	Pass     bool
}

const kibi = 1024

// bars compares medians: each ratio is that of two figures of the tables.
func (r *results) bars() []bar {
	list := []bar{
		r.atMost("`Cached.Next`, one goroutine", 1.5, "cached", "floor", 1),
		r.atMost("`Cached.Next`, all cores", 1.0, "cached", "floor", all()),
		r.atMost("`Cached.NextN(256)` an id, one goroutine", 0.25, batchName("cached"), "floor", 1),
		r.atMost("`Cached.NextN(256)` an id, all cores", 0.25, batchName("cached"), "floor", all()),
		r.atMost("`Default.Next`, one goroutine", 1.2, "default", "time-now", 1),
		r.allocations(),
		r.lead(8, 1, "one goroutine"),
		r.lead(8, all(), "all cores"),
	}
	heap := r.Memory[0]
	return append(list, bar{
		What:     fmt.Sprintf("memory of a %s-id ring, its generator included", humanize.Comma(int64(heap.Slots))),
		Want:     "≤ 16 KiB",
		Measured: fmt.Sprintf("%.1f KiB of heap", heap.Heap.median()/kibi),
		Pass:     heap.Heap.median() <= 16*kibi,
	})
}

func (r *results) atMost(what string, limit float64, name, base string, goroutines int) bar {
	one, under := r.cell(name, goroutines), r.cell(base, goroutines)
	unit := "the floor"
	if base != "floor" {
		unit = "`time.Now()`"
	}
	ratio := one.over(under)
	return bar{
		What: what,
		Want: fmt.Sprintf("≤ %.2f × %s", limit, unit),
		Measured: fmt.Sprintf("%.2f × (%s / %s ns)", ratio,
			figure(one.PerID.median()), figure(under.PerID.median())),
		Pass: ratio <= limit,
	}
}

// allocations counts as go test does, in whole allocations an op, but tells the
// fraction too: one in a thousand is an answer to another question.
func (r *results) allocations() bar {
	worst, whole := 0.0, true
	for _, name := range []string{"cached", "default", batchName("cached"), batchName("default")} {
		for _, goroutines := range oneAndAll() {
			c := r.cell(name, goroutines)
			worst = max(worst, c.allocsPerID())
			whole = whole && math.Floor(c.allocsPerCall()) == 0
		}
	}
	count := "0"
	if !whole {
		count = "1 or more"
	}
	return bar{
		What: "allocations, any generator, `Next` and `NextN`",
		Want: "0 a call",
		Measured: fmt.Sprintf("%s a call as go test counts, without the fraction; at most %s per million ids, the meter's own included",
			count, figure(worst*1e6)),
		Pass: whole,
	}
}

// lead is over the fastest of the peers that read a clock, so over all of them.
func (r *results) lead(want float64, goroutines int, words string) bar {
	var rivals []*cell
	for _, impl := range bench.All() {
		if impl.Kind == bench.Peer && impl.ReadsClock {
			rivals = append(rivals, r.cell(impl.Name, goroutines))
		}
	}
	fastest := slices.MinFunc(rivals, func(a, b *cell) int {
		return int(math.Copysign(1, a.PerID.median()-b.PerID.median()))
	})
	ratio := fastest.over(r.cell("cached", goroutines))
	return bar{
		What:     "`Cached.Next` over the peers that read a clock, " + words,
		Want:     fmt.Sprintf("≥ %.0f ×", want),
		Measured: fmt.Sprintf("%.1f × over the fastest of them, %s", ratio, fastest.Name),
		Pass:     ratio >= want,
	}
}
