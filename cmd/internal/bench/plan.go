package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/measure"
)

// setting is how many goroutines share a subject, and where their threads are.
type setting struct {
	Goroutines int
	Placement  measure.Placement
}

// many reports whether several goroutines compete.
func (s setting) many() bool { return s.Goroutines > 1 }

func (s setting) String() string {
	if !s.many() {
		return "1 goroutine"
	}
	return fmt.Sprintf("%d goroutines, %s", s.Goroutines, s.Placement)
}

var one = setting{Goroutines: 1}

// settings returns one goroutine, and one for each core in both placements.
func settings() []setting {
	cores := runtime.GOMAXPROCS(0)
	if cores == 1 {
		return []setting{one}
	}
	return []setting{one, {cores, measure.Apart}, {cores, measure.System}}
}

// crowds returns the settings of the table of goroutines.
func crowds() []setting {
	sizes := []int{1, 2, 4, 8, 64, 1024, runtime.GOMAXPROCS(0)}
	slices.Sort(sizes)
	var list []setting
	for _, n := range slices.Compact(sizes) {
		list = append(list, setting{Goroutines: n})
	}
	return list
}

// boosts are the rows of the table of ring sizes.
var boosts = []int{1, 3, 6, 10}

func boostName(power int) string { return fmt.Sprintf("boost %d", power) }

// results is everything that is measured.
type results struct {
	Machine measure.Machine
	Calm    measure.Calm
	Count   int
	Time    time.Duration // of a cell's sample
	Paced   time.Duration // of a paced sample
	Started time.Time
	Took    time.Duration

	settings []setting
	cells    map[string]*measure.Cell // by name and setting
	memory   []*footprint
	writes   []*writes
	paces    []*measure.Pace
	startup  *startup
	tasks    []measure.Task // a round; the floors are in it several times
}

func (r *results) cell(name string, s setting) *measure.Cell { return r.cells[name+", "+s.String()] }

// add puts a subject at the end of the round, and makes its cell if it is new.
func (r *results) add(subject measure.Subject, settings ...setting) {
	for _, s := range settings {
		key := subject.Name + ", " + s.String()
		if r.cells[key] == nil {
			r.cells[key] = &measure.Cell{Subject: subject, Goroutines: s.Goroutines, Placement: s.Placement, Time: r.Time}
		}
		r.tasks = append(r.tasks, r.cells[key])
	}
}

// plan makes a round: the floors, ours, the floors, the others, the floors, then the rest
// of the tables. So the floors are measured in the same minute as the rows that are
// compared with them.
func (r *results) plan() {
	r.settings = settings()
	r.cells = make(map[string]*measure.Cell)
	addAll := func(wanted func(kind) bool) {
		for _, row := range all() {
			if wanted(row.Kind) {
				r.add(row.Subject, r.settings...)
			}
		}
	}
	floors := func(k kind) bool { return k == floor }
	addAll(floors)
	addAll(func(k kind) bool { return k == ours })
	addAll(floors)
	addAll(func(k kind) bool { return k > ours })
	addAll(floors)
	for _, row := range all() {
		for _, s := range crowds() {
			if row.Scales && r.cell(row.Name, s) == nil {
				r.add(row.Subject, s)
			}
		}
	}
	for _, power := range boosts {
		subject := measure.Ours(bits.Default(), power)[0]
		subject.Name = boostName(power)
		r.add(subject, r.settings...)
		f := &footprint{Boost: power}
		r.memory = append(r.memory, f)
		r.tasks = append(r.tasks, f)
	}
	for _, n := range tagCounts {
		r.add(manyTags(n), r.apart()...)
	}
	for _, rate := range writeRates {
		w := &writes{Rate: rate}
		r.writes = append(r.writes, w)
		r.tasks = append(r.tasks, w)
	}
	r.startup = new(startup)
	r.tasks = append(r.tasks, r.startup)
	small := measure.Ours(bits.LongLived(), boost)[0]
	small.Name += ", layout 31/23/9, 4,096 ids"
	subjects := []measure.Subject{measure.Nothing(), now.Subject, cachedNext.Subject, small, defaultNext.Subject}
	for _, subject := range append(subjects, pacedSegments()...) {
		p := &measure.Pace{Subject: subject, Time: r.Paced}
		r.paces = append(r.paces, p)
		r.tasks = append(r.tasks, p)
	}
}

// run measures all rounds and writes progress.
func (r *results) run(ctx context.Context, progress func(string)) error {
	r.Started = time.Now()
	samples := 0
	err := measure.Rounds(ctx, r.Count, r.tasks, &r.Calm, func() {
		if samples++; samples%len(r.tasks) == 0 {
			progress(fmt.Sprintf("round %d of %d, %v", samples/len(r.tasks), r.Count, time.Since(r.Started).Round(time.Second)))
		}
	})
	r.Took = time.Since(r.Started)
	return err
}
