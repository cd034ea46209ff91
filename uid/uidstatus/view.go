package uidstatus

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/uidring/uidring/internal/figures"
	"github.com/uidring/uidring/uid"
)

// summary is a generator as a row of the table.
type summary struct {
	head
	Link  string // to its own page
	Cells []figure
}

// card is a generator as the only one on the page.
type card struct {
	summary
	Alone   bool           // the process has no other generator
	Decodes bool           // ids have parts
	Ready   string         // ids that a server made and that are ready; empty for other generators
	Ring    *ringPicture   // nil without a ring
	Ranges  []rangePicture // of a segment
	Groups  []group
	Answer  *answer // to the id that was typed in; nil if none was
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

// rangePicture is a range as a bar. Used is the share that is issued, in thousandths.
type rangePicture struct {
	Key, Label, Text string
	First, Last      string
	Used             int64
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

func newSummary(name string, s uid.Stats, now time.Time) summary {
	sum := summary{head: newHead(name, s, now), Link: "?" + url.Values{"name": {name}}.Encode()}
	sum.Cells = []figure{
		{Key: "issued", Label: "Issued", Value: grouped(s.Issued)},
		{Key: "rejected", Label: "Calls that failed", Value: grouped(s.RejectedTakes)},
	}
	ready, ahead := "no ring", "none"
	if s.Ring != nil {
		ready, ahead = compact(s.Remaining)+" of "+compact(s.Ring.Capacity), duration(s.Ring.Borrowed)
	}
	if c := s.Clock; c != nil {
		sum.Cells = append(sum.Cells,
			figure{Key: "ready", Label: "Ready", Value: ready},
			figure{Key: "ahead", Label: "Ahead of the clock", Value: ahead},
			figure{Key: "worker", Label: "Worker number", Value: grouped(c.Worker)},
			figure{Key: "end", Label: "Layout ends", Value: date(c.LayoutEnd)})
	}
	if l := s.Loads; l != nil {
		sum.Cells = append(sum.Cells,
			figure{Key: "ready", Label: "Ready", Value: compact(s.Remaining)},
			figure{Key: "step", Label: "Last load", Value: compact(l.Step)},
			figure{Key: "loads", Label: "Loads", Value: grouped(l.Loads)},
			figure{Key: "failures", Label: "Loads that failed", Value: grouped(l.Failures)})
	}
	return sum
}

func newCard(name string, s uid.Stats, alone bool, now time.Time) *card {
	c := &card{summary: newSummary(name, s, now), Alone: alone, Decodes: s.Clock != nil}
	source := "Clock" // what LastError is about
	if s.Ring != nil {
		source = "Ring"
		c.Ring = newRingPicture(s)
		c.Groups = append(c.Groups, timesGroup(s))
	}
	c.Groups = append(c.Groups, newGroup("Ids", s, "issued uidring_ids_issued_total", "rejected uidring_takes_rejected_total",
		"starved uidring_takes_starved_total", "waited uidring_waited_seconds_total", "dropped uidring_ids_dropped_total", "returned uidring_ids_returned_total"))
	if s.Ring != nil {
		c.Groups = append(c.Groups, newGroup("Ring", s, "refills uidring_ring_refills_total", "helps uidring_ring_helps_total", "refused uidring_ring_puts_rejected_total"))
	}
	if l := s.Loads; l != nil {
		source = "Load"
		if l.Instance == "" {
			c.Ranges = newRangePictures(s)
		} else {
			c.Ready = compact(s.Remaining)
		}
		c.Groups = append(c.Groups,
			newGroup("Loads", s, "step uidring_load_step_ids", "loads uidring_loads_total", "failures uidring_load_failures_total",
				"took uidring_load_duration_seconds", "changes uidring_load_instance_changes_total"),
			group{Title: "From", Class: "wide errors", Figures: []figure{{"tag", "Tag", l.Tag, ""}, {"from", "Source", l.From, ""}}})
	}
	faults := group{Title: "Present error", Class: "wide errors", Figures: []figure{{"error", source, sentence(s.LastError), ""}}}
	if s.Clock != nil {
		c.Groups = append(c.Groups, workerGroup(s, now), layoutGroup(s.Clock, now))
		faults.Figures = append(faults.Figures, figure{Key: "lease", Label: "Lease", Value: sentence(s.Clock.LeaseError)})
	}
	c.Groups = append(c.Groups, faults)
	return c
}

// newGroup returns the figures of the table that a generator has. Each name is a key of the
// page and, after a blank, the figure's name.
func newGroup(title string, s uid.Stats, names ...string) group {
	g := group{Title: title}
	for _, name := range names {
		key, metric, _ := strings.Cut(name, " ")
		i := slices.IndexFunc(figures.All, func(f figures.Figure) bool { return f.Name == metric })
		f := figures.All[i]
		value, ok := f.Read(&s)
		if !ok {
			continue
		}
		text := grouped(int64(value))
		if f.Unit == figures.Seconds {
			text = duration(time.Duration(value * float64(time.Second)))
		}
		why := f.Help
		if why == f.Label+"." {
			why = ""
		}
		g.Figures = append(g.Figures, figure{key, f.Label, text, why})
	}
	return g
}

func workerGroup(s uid.Stats, now time.Time) group {
	g := newGroup("Worker number", s, "worker uidring_worker_number", "workers uidring_worker_number_max", "changes uidring_worker_changes_total")
	c := s.Clock
	left, reserved := "leased numbers come back", "nothing is reserved"
	switch {
	case !c.ReservedUntil.IsZero():
		reserved = when(c.ReservedUntil, now)
	case c.LeaseError == nil: // not leased
		left = grouped(max(0, figures.MaxWorker(c.Layout)-c.Worker)) + " above this one"
		reserved = "no limit: the number is not leased"
	}
	g.Figures = append(g.Figures, figure{"left", "Numbers left", left, ""}, figure{"reserved", "Reserved until", reserved, ""})
	return g
}

func layoutGroup(c *uid.ClockStats, now time.Time) group {
	layout := c.Layout
	return group{Title: "Layout", Figures: []figure{
		{"widths", "Bits", fmt.Sprintf("%d time, %d worker, %d sequence", layout.TimeBits, layout.WorkerBits, layout.SequenceBits), ""},
		{"epoch", "Time begins", epoch(layout.Epoch), ""},
		{"tick", "Tick", duration(layout.Unit), "A worker’s ids of one tick differ in their sequence only."},
		{"end", "Time ends", end(c.LayoutEnd, now), ""},
	}}
}

// timesGroup says which times ids carry, and how far from the clock they may be.
func timesGroup(s uid.Stats) group {
	g := newGroup("Time that ids carry", s, "borrowed uidring_borrowed_seconds", "behind uidring_ring_age_limit_seconds",
		"ahead uidring_borrow_limit_seconds", "span uidring_ring_span_seconds")
	g.Class = "wide"
	g.Figures = append([]figure{{"oldest", "The next id", oldest(s), ""}}, g.Figures...)
	if s.Ring.MaxBorrow >= 0 {
		share := part(float64(s.Ring.Borrowed), float64(s.Ring.MaxBorrow))
		g.Bar = &share
	}
	return g
}

func newRingPicture(s uid.Stats) *ringPicture {
	r, ticks := s.Ring, int64(0)
	if s.Clock != nil {
		ticks = r.Capacity >> s.Clock.Layout.SequenceBits
	}
	return &ringPicture{
		Text: grouped(s.Remaining) + " of " + grouped(r.Capacity) + " ids are ready; below " +
			grouped(r.Threshold) + " the ring is filled again",
		Remaining: compact(s.Remaining),
		Capacity:  compact(r.Capacity),
		Threshold: compact(r.Threshold),
		Ready:     part(float64(s.Remaining), float64(r.Capacity)),
		Mark:      360 * float64(r.Threshold) / float64(r.Capacity),
		Slots:     slots(ticks),
		Refills:   r.Refills,
	}
}

// newRangePictures returns the range in use and the next range.
func newRangePictures(s uid.Stats) []rangePicture {
	l := s.Loads
	left := max(0, min(l.InUse.N, s.Remaining-l.Next.N))
	use := newRangePicture(l.InUse, left, grouped(left)+" of "+grouped(l.InUse.N)+" ids are left")
	use.Key, use.Label = "in-use", "In use"
	next := newRangePicture(l.Next, l.Next.N, grouped(l.Next.N)+" ids are ready")
	next.Key, next.Label = "next", "Next"
	if l.Next.N == 0 && l.Loading > 0 {
		next.Text = "loading for " + duration(l.Loading)
	}
	return []rangePicture{use, next}
}

func newRangePicture(r uid.Run, left int64, text string) rangePicture {
	if r.N == 0 {
		return rangePicture{Text: "not loaded", Used: 1000}
	}
	return rangePicture{
		Text:  text,
		First: grouped(int64(r.First)),
		Last:  grouped(int64(r.First) + r.N - 1),
		Used:  part(float64(r.N-left), float64(r.N)),
	}
}

func newAnswer(s uid.Stats, typed string, now time.Time) *answer {
	a := &answer{Text: short(typed)}
	parts, _, err := parse(s, typed)
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

// oldest returns how the time of the next id lies to the clock.
func oldest(s uid.Stats) string {
	switch {
	case s.Remaining == 0:
		return "none is ready"
	case s.Ring.OldestAge < 0:
		return duration(-s.Ring.OldestAge) + " ahead of the clock"
	default:
		return duration(s.Ring.OldestAge) + " behind the clock"
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
