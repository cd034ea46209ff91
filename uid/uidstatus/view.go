package uidstatus

import (
	"fmt"
	"math"
	"net/url"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// summary is a generator as a row of the table.
type summary struct {
	Name   string
	Place  string // unique on the page
	Link   string // to its own page
	State  state
	Notes  []string
	Issued int64
	Cells  []figure
}

// card is a generator as the only one on the page.
type card struct {
	summary
	Alone  bool           // the process has no other generator
	Ring   *ringPicture   // nil without a ring
	Ranges []rangePicture // of a segment
	Groups []group
	Answer *answer // to the id that was typed in; nil if none was
}

// figure is a value with its label. Key names it for the style and for tests.
type figure struct{ Key, Label, Value, Why string }

// group is some figures under a heading.
type group struct {
	Title   string
	Class   string // for the style
	Bar     *int64 // share of a limit in thousandths; nil without a limit
	Figures []figure
}

// ringPicture is the circle. Shares of it are in thousandths, angles in degrees.
type ringPicture struct {
	Text                           string
	Remaining, Capacity, Threshold string
	Ready                          int64
	Mark                           float64   // where the threshold is
	Slots                          []float64 // where a tick's ids end and the next one's begin
	Refills                        int64     // the script shows when it changes
}

// answer is what the page says about an id that was typed in.
type answer struct {
	Text  string // as it was typed
	Error string
	Parts []figure
}

func newSummary(name string, g Generator, now time.Time) (summary, bits.Layout, uid.Stats) {
	layout, s := g.Layout(), g.Stats()
	sum := summary{Name: name, Place: name, Link: "?" + url.Values{"name": {name}}.Encode(), Issued: s.Issued}
	sum.State, sum.Notes = judge(layout, s, now)
	ready, ahead := "no ring", "none"
	if s.Capacity > 0 {
		ready, ahead = compact(s.Remaining)+" of "+compact(s.Capacity), duration(s.Borrowed)
	}
	sum.Cells = []figure{
		{Key: "issued", Label: "Issued", Value: grouped(s.Issued)},
		{Key: "rejected", Label: "Calls that failed", Value: grouped(s.RejectedTakes)},
		{Key: "ready", Label: "Ready", Value: ready},
		{Key: "ahead", Label: "Ahead of the clock", Value: ahead},
		{Key: "worker", Label: "Worker number", Value: grouped(s.Worker)},
		{Key: "end", Label: "Layout ends", Value: date(s.LayoutEnd)},
	}
	return sum, layout, s
}

func newCard(name string, g Generator, alone bool, now time.Time, names settings) *card {
	sum, layout, s := newSummary(name, g, now)
	c := &card{summary: sum, Alone: alone}
	if s.Capacity > 0 {
		c.Ring = newRingPicture(layout, s)
		c.Groups = append(c.Groups, timesGroup(layout, s, names))
	}
	c.Groups = append(c.Groups, group{Title: "Ids", Figures: []figure{
		{"issued", "Issued", grouped(s.Issued), ""},
		{"rejected", "Calls that failed", grouped(s.RejectedTakes), "Next or another call returned an error."},
		{"waited", "Time that calls waited", duration(s.Waited), "The waits of all calls added up."},
	}})
	if s.Capacity > 0 {
		c.Groups = append(c.Groups, group{Title: "Ring", Figures: []figure{
			{"refills", "Filled ahead of demand", grouped(s.Refills), ""},
			{"helps", "Filled by a caller", grouped(s.Helps), "A call found the ring empty, and put the ids of a few ticks."},
			{"dropped", "Ids dropped", grouped(s.Dropped), "They were too old, their number was lost, or the generator closed."},
			{"refused", "Ticks dropped", grouped(s.RejectedPuts), "The ticks of these ids." + names.mention(" %s gets each.", "RejectedPut")},
		}})
	}
	c.Groups = append(c.Groups,
		group{Title: "Worker number", Figures: []figure{
			{"worker", "Number", grouped(s.Worker), "It is part of each id. No other process may have it at the same time."},
			{"workers", "Possible numbers", "0 to " + grouped(maxWorker(layout)), ""},
			{"left", "Numbers left", left(layout, s), ""},
			{"reserved", "Reserved until", reserved(s, now), ""},
			{"changes", "Numbers lost", grouped(s.WorkerChanges), "The generator lost a leased number, and took another."},
		}},
		group{Title: "Layout", Figures: []figure{
			{"widths", "Bits", fmt.Sprintf("%d time, %d worker, %d sequence", layout.TimeBits, layout.WorkerBits, layout.SequenceBits), ""},
			{"epoch", "Time begins", epoch(layout.Epoch), ""},
			{"tick", "Tick", duration(layout.Unit), "A worker’s ids of one tick differ in their sequence only."},
			{"end", "Time ends", end(s.LayoutEnd, now), ""},
		}},
	)
	faults := []figure{{Key: "lease", Label: "Lease", Value: sentence(s.LeaseError)}}
	if s.Capacity > 0 {
		faults = append(faults, figure{Key: "error", Label: "Ring", Value: sentence(s.LastError)})
	}
	c.Groups = append(c.Groups, group{Title: "Present error", Class: "wide errors", Figures: faults})
	return c
}

// timesGroup says which times ids carry, and how far from the clock they may be.
func timesGroup(layout bits.Layout, s uid.Stats, names settings) group {
	behind := "none"
	if s.MaxAge >= 0 {
		behind = duration(s.MaxAge)
	}
	g := group{Title: "Time that ids carry", Class: "wide", Figures: []figure{
		{"oldest", "The next id", oldest(s), ""},
		{"borrowed", "The last id in the ring", duration(s.Borrowed) + " ahead of the clock", ""},
		{"behind", "Limit behind the clock", behind, names.mention("%s. ", "MaxAge") + "Older ids are dropped."},
		{"ahead", "Limit ahead of the clock", "none", names.mention("%s. ", "MaxBorrow") + "Ids run ahead when calls take more than the layout has for the present. A full ring alone is " +
			duration(ringTime(layout, s)) + " ahead."},
	}}
	if s.MaxBorrow >= 0 {
		g.Figures[3].Value = duration(s.MaxBorrow)
		share := part(float64(s.Borrowed), float64(s.MaxBorrow))
		g.Bar = &share
	}
	return g
}

func newRingPicture(layout bits.Layout, s uid.Stats) *ringPicture {
	return &ringPicture{
		Text: grouped(s.Remaining) + " of " + grouped(s.Capacity) + " ids are ready; below " +
			grouped(s.Threshold) + " the ring is filled again",
		Remaining: compact(s.Remaining),
		Capacity:  compact(s.Capacity),
		Threshold: compact(s.Threshold),
		Ready:     part(float64(s.Remaining), float64(s.Capacity)),
		Mark:      360 * float64(s.Threshold) / float64(s.Capacity),
		Slots:     slots(s.Capacity >> layout.SequenceBits),
		Refills:   s.Refills,
	}
}

func newAnswer(g Generator, typed string, now time.Time) *answer {
	a := &answer{Text: short(typed)}
	parts, _, err := parse(g, typed)
	if err != nil {
		a.Error = err.Error()
		return a
	}
	a.Parts = []figure{
		{Label: "Time", Value: parts.Time.UTC().Format("2006-01-02 15:04:05.999999999") + " UTC, " + toGo(parts.Time, now)},
		{Label: "Worker number", Value: grouped(parts.Worker)},
		{Label: "Sequence", Value: grouped(parts.Sequence)},
		{Label: "Tick", Value: grouped(parts.Tick)},
	}
	return a
}

// slots returns where the ring's slots meet, unless they are too many to see.
func slots(n int64) []float64 {
	if n < 2 || n > 64 {
		return nil
	}
	degrees := make([]float64, n)
	for i := range degrees {
		degrees[i] = 360 * float64(i) / float64(n)
	}
	return degrees
}

// part returns a of b in thousandths, from 0 to 1000. It is 0 only if a is.
func part(a, b float64) int64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	return int64(min(1000, max(1, math.Round(1000*a/b))))
}

// left returns how many worker numbers are left, if that is known.
func left(layout bits.Layout, s uid.Stats) string {
	if leased(s) {
		return "leased numbers come back"
	}
	return grouped(max(0, maxWorker(layout)-s.Worker)) + " above this one"
}

func reserved(s uid.Stats, now time.Time) string {
	switch {
	case !s.ReservedUntil.IsZero():
		return when(s.ReservedUntil, now)
	case leased(s):
		return "nothing is reserved"
	default:
		return "no limit: the number is not leased"
	}
}

func leased(s uid.Stats) bool { return !s.ReservedUntil.IsZero() || s.LeaseError != nil }

// oldest returns how the time of the next id lies to the clock.
func oldest(s uid.Stats) string {
	switch {
	case s.Remaining == 0:
		return "none is ready"
	case s.OldestAge < 0:
		return duration(-s.OldestAge) + " ahead of the clock"
	default:
		return duration(s.OldestAge) + " behind the clock"
	}
}

func end(t, now time.Time) string {
	if t.UTC().Year() > 9999 {
		return "after the year 9999"
	}
	return when(t, now)
}

func epoch(t time.Time) string {
	if t = t.UTC(); t.Equal(t.Truncate(day)) {
		return date(t)
	}
	return t.Format("2006-01-02 15:04:05.999999999")
}

func sentence(err error) string {
	if err == nil {
		return "none"
	}
	return err.Error()
}
