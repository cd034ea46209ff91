package uidstatus

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// document is what stats.json has. The package comment explains every field.
type document struct {
	Time       string      `json:"time"`
	Process    process     `json:"process"`
	Generators []generator `json:"generators"`
	Segments   []segmentOf `json:"segments"`
	Found      found       `json:"found"`
}

// found is how many there are, although the document has fewer.
type found struct {
	Generators int `json:"generators"`
	Segments   int `json:"segments"`
}

type generator struct {
	Name           string   `json:"name"`
	State          state    `json:"state"`
	Notes          []string `json:"notes"`
	Closed         bool     `json:"closed"`
	Layout         string   `json:"layout"`
	LayoutEnd      *string  `json:"layout_end"`
	LayoutEndsSoon bool     `json:"layout_ends_soon"`
	Worker         int64    `json:"worker"`
	WorkerMax      int64    `json:"worker_max"`
	WorkerChanges  int64    `json:"worker_changes"`
	ReservedUntil  *string  `json:"reserved_until"`
	LeaseError     *string  `json:"lease_error"`
	Issued         int64    `json:"issued"`
	RejectedTakes  int64    `json:"rejected_takes"`
	Waited         float64  `json:"waited_seconds"`
	Ring           *ring    `json:"ring"`
}

type ring struct {
	Capacity     int64    `json:"capacity"`
	Threshold    int64    `json:"threshold"`
	Remaining    int64    `json:"remaining"`
	Refills      int64    `json:"refills"`
	Helps        int64    `json:"helps"`
	RejectedPuts int64    `json:"rejected_puts"`
	Dropped      int64    `json:"dropped"`
	OldestAge    float64  `json:"oldest_age_seconds"`
	MaxAge       *float64 `json:"max_age_seconds"`
	Borrowed     float64  `json:"borrowed_seconds"`
	MaxBorrow    *float64 `json:"max_borrow_seconds"`
	Span         float64  `json:"span_seconds"`
	LastError    *string  `json:"last_error"`
}

func (p *Page) document(s selection) document {
	now := p.now()
	d := document{Time: *instant(now), Process: p.process, Generators: []generator{}, Segments: []segmentOf{}}
	for _, name := range s.names {
		g := p.generators[name]
		d.Generators = append(d.Generators, describe(name, g.Layout(), g.Stats(), now))
	}
	for _, tag := range s.tags {
		d.Segments = append(d.Segments, describeSegment(tag, s.segments[tag]))
	}
	d.Found = found{len(d.Generators), len(d.Segments)}
	return d
}

// keep leaves out what is above most: those not in trouble that issued fewest.
func (d *document) keep(most int) {
	d.Generators = first(d.Generators, most, func(g generator) (state, int64, string) { return g.State, g.Issued, g.Name })
	d.Segments = first(d.Segments, most, func(s segmentOf) (state, int64, string) { return s.State, s.Issued, s.Name })
}

// first returns the items that a table shows first, in their order, which is by name.
func first[T any](all []T, most int, about func(T) (state, int64, string)) []T {
	if len(all) <= most {
		return all
	}
	slices.SortFunc(all, func(a, b T) int {
		stateA, issuedA, nameA := about(a)
		stateB, issuedB, nameB := about(b)
		return cmp.Or(cmp.Compare(stateB.rank(), stateA.rank()), cmp.Compare(issuedB, issuedA), cmp.Compare(nameA, nameB))
	})
	all = all[:most]
	slices.SortFunc(all, func(a, b T) int {
		_, _, nameA := about(a)
		_, _, nameB := about(b)
		return cmp.Compare(nameA, nameB)
	})
	return all
}

func describe(name string, layout bits.Layout, s uid.Stats, now time.Time) generator {
	state, notes := judge(layout, s, now)
	g := generator{
		Name:           name,
		State:          state,
		Notes:          notes,
		Closed:         s.Closed,
		Layout:         layout.String(),
		LayoutEnd:      instant(s.LayoutEnd),
		LayoutEndsSoon: s.LayoutEndsSoon,
		Worker:         s.Worker,
		WorkerMax:      maxWorker(layout),
		WorkerChanges:  s.WorkerChanges,
		ReservedUntil:  instant(s.ReservedUntil),
		LeaseError:     text(s.LeaseError),
		Issued:         s.Issued,
		RejectedTakes:  s.RejectedTakes,
		Waited:         s.Waited.Seconds(),
	}
	if s.Capacity > 0 {
		g.Ring = &ring{
			Capacity:     s.Capacity,
			Threshold:    s.Threshold,
			Remaining:    s.Remaining,
			Refills:      s.Refills,
			Helps:        s.Helps,
			RejectedPuts: s.RejectedPuts,
			Dropped:      s.Dropped,
			OldestAge:    s.OldestAge.Seconds(),
			MaxAge:       limit(s.MaxAge),
			Borrowed:     s.Borrowed.Seconds(),
			MaxBorrow:    limit(s.MaxBorrow),
			Span:         ringTime(layout, s).Seconds(),
			LastError:    text(s.LastError),
		}
	}
	return g
}

func maxWorker(layout bits.Layout) int64 { return 1<<layout.WorkerBits - 1 }

// ringTime returns the time that the ids of a full ring cover.
func ringTime(layout bits.Layout, s uid.Stats) time.Duration {
	ticks := s.Capacity >> layout.SequenceBits
	if ticks > math.MaxInt64/int64(layout.Unit) {
		return math.MaxInt64
	}
	return time.Duration(ticks) * layout.Unit
}

// limit returns a limit in seconds, or nil for a negative one, which is none.
func limit(d time.Duration) *float64 {
	if d < 0 {
		return nil
	}
	seconds := d.Seconds()
	return &seconds
}

// instant returns t in RFC 3339, or nil for the zero time and for years that RFC
// 3339 cannot write.
func instant(t time.Time) *string {
	t = t.UTC()
	if t.IsZero() || t.Year() < 0 || t.Year() > 9999 {
		return nil
	}
	text := t.Format(time.RFC3339Nano)
	return &text
}

func text(err error) *string {
	if err == nil {
		return nil
	}
	text := err.Error()
	return &text
}
