package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/bench"
)

// boosts of the table of ring sizes.
var boosts = []int{1, 3, 6, 10}

// crowd is who appears in the table of goroutines: ours, the floor, what one
// would write instead, the fastest that needs no worker number, and a UUID.
var crowd = []string{"floor", "cached", "default", "mutex", "channel", "xid", "google-uuid-v7"}

// results is everything that was measured.
type results struct {
	Machine   machine
	Cells     map[string]*cell
	Memory    []*footprint
	Latency   []*pace
	Count     int
	Time      time.Duration
	Paced     time.Duration
	Started   time.Time
	Took      time.Duration
	Calm      calm
	round     []*cell // the order within a round; the floor is in it often
	footprint []bits.Layout
}

// all is the number of goroutines that stands for "all cores".
func all() int { return runtime.GOMAXPROCS(0) }

// oneAndAll is one number on a machine of one core.
func oneAndAll() []int { return slices.Compact([]int{1, all()}) }

// crowds are the columns of the table of goroutines.
func crowds() []int {
	sizes := append([]int{1, 2, 4, 8, 64, 1024}, all())
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

func (r *results) cell(name string, goroutines int) *cell {
	return r.Cells[fmt.Sprintf("%s/%d", name, goroutines)]
}

// add puts a cell at the end of the round, and makes it if it is new.
func (r *results) add(name string, goroutines int, open func() (*bench.Instance, error)) {
	key := fmt.Sprintf("%s/%d", name, goroutines)
	if r.Cells[key] == nil {
		r.Cells[key] = &cell{Name: name, Goroutines: goroutines, open: open}
	}
	r.round = append(r.round, r.Cells[key])
}

func batchName(name string) string { return name + "-nextn" }
func boostName(boost int) string   { return fmt.Sprintf("boost-%d", boost) }

// plan lays a round out: floor, ours, floor, peers, floor, then the rest of the
// tables. The floor comes again and again so that what a ratio is over was not
// measured in another minute, with the machine in another mood.
func (r *results) plan() {
	r.Cells = make(map[string]*cell)
	floor, _ := bench.Find("floor")
	addFloor := func() {
		for _, goroutines := range oneAndAll() {
			r.add(floor.Name, goroutines, floor.New)
		}
	}
	addAll := func(impls []bench.Impl, wanted func(bench.Kind) bool, name func(string) string) {
		for _, impl := range impls {
			if wanted(impl.Kind) {
				for _, goroutines := range oneAndAll() {
					r.add(name(impl.Name), goroutines, impl.New)
				}
			}
		}
	}
	ours := func(k bench.Kind) bool { return k == bench.Ours }
	others := func(k bench.Kind) bool { return k != bench.Ours && k != bench.Floor }
	same := func(name string) string { return name }

	addFloor()
	addAll(bench.All(), ours, same)
	addAll(bench.Batches(), ours, batchName)
	addFloor()
	addAll(bench.All(), others, same)
	addFloor()
	for _, name := range crowd {
		impl, _ := bench.Find(name)
		for _, goroutines := range crowds() {
			if r.cell(name, goroutines) == nil {
				r.add(name, goroutines, impl.New)
			}
		}
	}
	for _, boost := range boosts {
		for _, goroutines := range oneAndAll() {
			r.add(boostName(boost), goroutines, func() (*bench.Instance, error) {
				gen, err := bench.OpenCached(bits.Default, boost)
				if err != nil {
					return nil, err
				}
				return bench.CachedInstance(gen), nil
			})
		}
	}

	// The first is the one of the bar: 8192 << 3 ids.
	r.Memory = []*footprint{
		{Layout: "28/22/13", Boost: 3}, {Layout: "28/22/13", Boost: 6}, {Layout: "31/23/9", Boost: 7},
	}
	r.footprint = []bits.Layout{bits.Default, bits.Default, bits.LongLived}
	r.Latency = paces()
}

// run measures Count rounds and tells progress after each.
func (r *results) run(progress func(string)) error {
	r.Started = time.Now()
	r.Calm.learn()
	for round := range r.Count {
		for _, c := range r.round {
			err := r.Calm.take(c.Goroutines, func() (func(), error) { return c.sample(r.Time) })
			if err != nil {
				return err
			}
		}
		for i, f := range r.Memory {
			if err := f.sample(r.footprint[i]); err != nil {
				return err
			}
		}
		for _, p := range r.Latency {
			// All cores, for refills are not the pacing goroutine's business alone.
			err := r.Calm.take(all(), func() (func(), error) { return p.sample(r.Paced) })
			if err != nil {
				return err
			}
		}
		progress(fmt.Sprintf("round %d of %d, %v", round+1, r.Count, time.Since(r.Started).Round(time.Second)))
	}
	r.Took = time.Since(r.Started)
	return nil
}
