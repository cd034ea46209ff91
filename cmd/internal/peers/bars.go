package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// row is a row of the table of ids.
type row struct {
	name      string // as the page has it
	benchmark string // of one goroutine; that of several has Parallel after its first part
	floor     string // the name of the row that this one cannot undercut; empty for none
}

// rows are in the order of the page.
var rows = []row{
	{"add", "Next/impl=add", ""},
	{"called add", "Next/impl=called-add", "add"},
	{"fill(16)", "NextN/n=16/impl=fill", ""},
	{"fill(256)", "NextN/n=256/impl=fill", ""},
	{"time.Since", "Next/impl=time.Since", ""},
	{"time.Now", "Next/impl=time.Now", "time.Since"},
	{"Cached.Next", "Next/impl=Cached", "add"},
	{"Cached.Wait", "Wait/impl=Cached", "add"},
	{"Cached.NextN(16)", "NextN/n=16/impl=Cached", "fill(16)"},
	{"Cached.NextN(256)", "NextN/n=256/impl=Cached", "fill(256)"},
	{"Cached.All", "All/n=256/impl=Cached", "fill(256)"},
	{"Default.Next", "Next/impl=Default", "time.Since"},
	{"Slots.Next", "Next/impl=Slots", "time.Since"},
	{"Segment.Next", "Next/impl=Segment", "add"},
	{"Client.Next", "Next/impl=Client", "add"},
	{"mutex", "Next/impl=mutex", ""},
	{"xid.New", "Next/impl=xid.New", ""},
	{"google/uuid.NewV7", "Next/impl=uuid.NewV7", ""},
	{"snowflake", "Next/impl=snowflake", ""},
}

// on returns the name of the row's benchmark with so many goroutines, one for each core.
func (r row) on(cores int) string {
	if first, rest, _ := strings.Cut(r.benchmark, "/"); cores > 1 {
		return fmt.Sprintf("%sParallel/%s-%d", first, rest, cores)
	}
	return r.benchmark + "-1"
}

func named(name string) row {
	return rows[slices.IndexFunc(rows, func(r row) bool { return r.name == name })] // or a name of bars is wrong
}

// bar is a promise about the ratio of a row to another. It also promises that the row
// allocates nothing.
type bar struct {
	name, base string
	one, all   float64 // the greatest ratio on one core and on all; 0 without a promise
}

var bars = []bar{
	{"Cached.Next", "add", 1.35, 0},
	{"Cached.Next", "called add", 0, 1.1},
	{"Cached.Wait", "Cached.Next", 1.5, 1.5},
	{"Cached.NextN(16)", "add", 0.4, 0.4},
	{"Cached.NextN(256)", "fill(256)", 2, 2},
	{"Cached.All", "add", 0.5, 0.5},
	{"Default.Next", "time.Now", 1, 0},       // it reads the clock less, and writes two shared words
	{"Segment.Next", "called add", 1.1, 1.2}, // some processors do not hide the rest of a take behind a contended add
	{"Client.Next", "called add", 1.3, 1.3},
}

// serverRow is a row of the server's table: a kind of load, on the server and on its base.
type serverRow struct {
	name, benchmark, base string
	least                 float64 // the promised ratio of the rates; 0 without a promise
}

var serverRows = []serverRow{
	{"`GET /v1/ids`", "HTTP/call=GET_id", "empty", 0.6},
	{"`GET /v1/ids?n=1000`", "HTTP/call=GET_1000_ids", "empty", 0},
	{"`POST /v1/ids/runs?n=1000`", "HTTP/call=POST_1000_in_runs", "empty", 0},
	{"`INCR`", "Redis/pipeline=1", "redis", 0.85},
	{"`INCR`, 16 in flight", "Redis/pipeline=16", "redis", 0.85},
}

// overlap is how much of its floor a row has to cost: a processor that runs other instructions
// beside an atomic one takes a little less for both than for a loop of the atomic one alone.
const overlap = 0.9

// judge returns what breaks a promise by more than the spread, and which row is below its floor by
// more than the spread of both. On several cores, the floor is what it costs one core, divided by
// their number: contention only adds to that.
func (r *results) judge(cores int) (missed []string) {
	miss := func(format string, args ...any) { missed = append(missed, fmt.Sprintf(format, args...)) }
	for _, at := range []int{1, cores} {
		for _, row := range rows {
			if row.floor == "" {
				continue
			}
			s, err := r.summary(row.on(at), "sec/op")
			floor, floorErr := r.summary(named(row.floor).on(1), "sec/op")
			if err := errors.Join(err, floorErr); err != nil {
				miss("%v", err)
			} else if s.Hi < overlap*floor.Lo/float64(at) {
				miss("%s on %d cores takes %s ns, less than its floor: %s takes %s ns on one, divided by %[2]d", row.name, at, cell(s), row.floor, cell(floor))
			}
		}
		for _, b := range bars {
			most := b.one
			if at > 1 {
				most = b.all
			}
			if most == 0 {
				continue
			}
			if s, err := r.ratio(named(b.name).on(at), named(b.base).on(at), "sec/op"); err != nil {
				miss("%v", err)
			} else if s.Lo > most {
				miss("%s on %d cores is %s × %s, want %v at most", b.name, at, cell(s), b.base, most)
			}
			if s, err := r.summary(named(b.name).on(at), "allocs/op"); err != nil || s.Center > 0 {
				miss("%s on %d cores makes %v allocations a call, %v; want 0", b.name, at, s.Center, err)
			}
		}
	}
	return missed
}

// judgeServer is judge for the server.
func (r *results) judgeServer(cores int) (missed []string) {
	for _, row := range serverRows {
		s, err := r.serverRatio(row, cores)
		if err != nil {
			missed = append(missed, err.Error())
		} else if s.Hi < row.least || math.IsNaN(s.Center) {
			missed = append(missed, fmt.Sprintf("%s has %s × the requests of %s, want %v at least", row.name, cell(s), row.base, row.least))
		}
	}
	return missed
}
