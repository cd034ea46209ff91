package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/bench"
	"github.com/uidring/uidring/uid"
)

//go:embed page.md
var pageText string

// peers is the benchmark of the generators.
var peers = bench.Program{
	Title: "Benchmarks", Duration: 150 * time.Millisecond, Rounds: 7,
	Tasks: peerTasks, Bars: peerBars, Own: pageText,
	Data: func(r *bench.Result, missed []bench.Bar) any { return (&page{r}).data(missed) },
}

// settings returns one goroutine, and one for each core in both placements.
func settings(cores int) []bench.Setting {
	if cores == 1 {
		return []bench.Setting{bench.One}
	}
	return []bench.Setting{bench.One, {Goroutines: cores}, {Goroutines: cores, Anywhere: true}}
}

// apart returns the settings with a core for each thread.
func apart(cores int) []bench.Setting {
	return slices.DeleteFunc(settings(cores), func(s bench.Setting) bool { return s.Anywhere })
}

// crowds returns the settings of the tables by goroutines.
func crowds(cores int) []bench.Setting {
	sizes := []int{1, 2, 4, 8, 64, 1024, cores}
	slices.Sort(sizes)
	var list []bench.Setting
	for _, n := range slices.Compact(sizes) {
		list = append(list, bench.Setting{Goroutines: n})
	}
	return list
}

// boosts are the rows of the table of ring sizes.
var boosts = []int{1, 3, 6, 10}

func boostName(power int) string {
	return fmt.Sprintf("BoostPower %d, %s ids", power, humanize.Comma(int64(slots(power))))
}

// peerTasks makes a round: the floors, ours, the floors, the others, the floors, then the
// rest of the tables. So the floors are measured in the same minute as the rows that are
// compared with them.
func peerTasks(ctx context.Context, o bench.Options) (tasks []bench.Task, end func() error, err error) {
	cores := runtime.GOMAXPROCS(0)
	add := func(subject bench.Subject, settings ...bench.Setting) {
		for _, s := range settings {
			tasks = append(tasks, &bench.Cell{Subject: subject, Setting: s, Time: o.Duration})
		}
	}
	addAll := func(wanted func(kind) bool) {
		for _, row := range there() {
			if wanted(row.Kind) {
				add(row.Subject, settings(cores)...)
			}
		}
	}
	floors := func(k kind) bool { return k == floor }
	addAll(floors)
	addAll(func(k kind) bool { return k == ours })
	addAll(floors)
	addAll(func(k kind) bool { return k > ours })
	addAll(floors)
	for _, row := range there() {
		for _, s := range crowds(cores) {
			if row.Scales && !slices.Contains(settings(cores), s) {
				add(row.Subject, s)
			}
		}
	}
	for _, power := range boosts {
		subject := bench.Ours(bits.Default(), power)[0]
		subject.Name = boostName(power)
		add(subject, settings(cores)...)
		tasks = append(tasks, footprint(power))
	}
	for _, n := range tagCounts {
		add(manyTags(n), apart(cores)...)
	}
	for _, rate := range writeRates {
		tasks = append(tasks, writes(rate))
	}
	dir, err := folder()
	if err != nil {
		return nil, nil, err
	}
	end = func() error { return os.RemoveAll(dir) }
	start, err := newStartup(ctx, dir)
	if err != nil {
		return nil, end, err
	}
	tasks = append(tasks, start)
	small := bench.Ours(bits.LongLived(), uid.DefaultBoostPower)[0]
	small.Name += ", layout 31/23/9, 4,096 ids"
	subjects := []bench.Subject{bench.Nothing(), now.Subject, cachedNext.Subject, small, defaultNext.Subject}
	for _, subject := range append(subjects, pacedSegments()...) {
		tasks = append(tasks, &bench.Pace{Subject: subject, Time: 4 * o.Duration})
	}
	return tasks, end, nil
}
