package uidstatus

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/uidring/uidring/internal/figures"
	"github.com/uidring/uidring/uid"
)

// document is what stats.json has. The package comment explains every field.
type document struct {
	Time       string      `json:"time"`
	Process    process     `json:"process"`
	Generators []generator `json:"generators"`
	Found      int         `json:"found"` // how many there are, although the document has fewer
}

// head is what a table and stats.json have of a generator.
type head struct {
	Name   string   `json:"name"`
	State  state    `json:"state"`
	Notes  []string `json:"notes"`
	Closed bool     `json:"closed"`
	Issued int64    `json:"issued"`
}

func newHead(name string, s uid.Stats, now time.Time) head {
	state, notes := judge(s, now)
	return head{name, state, notes, s.Closed, s.Issued}
}

func (h head) top() head { return h }

// first returns the items that are shown first, in their order, which is by name: the worst,
// and then those that issued most.
func first[T interface{ top() head }](all []T, most int) []T {
	if len(all) <= most {
		return all
	}
	slices.SortFunc(all, func(x, y T) int {
		a, b := x.top(), y.top()
		return cmp.Or(cmp.Compare(b.State.rank(), a.State.rank()), cmp.Compare(b.Issued, a.Issued), cmp.Compare(a.Name, b.Name))
	})
	all = all[:most]
	slices.SortFunc(all, func(x, y T) int { return cmp.Compare(x.top().Name, y.top().Name) })
	return all
}

type generator struct {
	head
	Remaining     int64   `json:"remaining"`
	Dropped       int64   `json:"dropped"`
	RejectedTakes int64   `json:"rejected_takes"`
	Starved       int64   `json:"starved"`
	Waited        float64 `json:"waited_seconds"`
	LastError     *string `json:"last_error"`
	Clock         *clock  `json:"clock"`
	Ring          *ring   `json:"ring"`
	Loads         *loads  `json:"loads"`
}

type clock struct {
	Layout         string  `json:"layout"`
	LayoutEnd      *string `json:"layout_end"`
	LayoutEndsSoon bool    `json:"layout_ends_soon"`
	Worker         int64   `json:"worker"`
	WorkerMax      int64   `json:"worker_max"`
	WorkerChanges  int64   `json:"worker_changes"`
	ReservedUntil  *string `json:"reserved_until"`
	LeaseError     *string `json:"lease_error"`
}

type ring struct {
	Capacity     int64    `json:"capacity"`
	Threshold    int64    `json:"threshold"`
	Refills      int64    `json:"refills"`
	Helps        int64    `json:"helps"`
	RejectedPuts int64    `json:"rejected_puts"`
	OldestAge    float64  `json:"oldest_age_seconds"`
	MaxAge       *float64 `json:"max_age_seconds"`
	Borrowed     float64  `json:"borrowed_seconds"`
	MaxBorrow    *float64 `json:"max_borrow_seconds"`
	Span         float64  `json:"span_seconds"`
}

type loads struct {
	From     string   `json:"from"`
	Tag      string   `json:"tag"`
	Instance string   `json:"instance"`
	Changes  int64    `json:"instance_changes"`
	InUse    *rangeOf `json:"in_use"`
	Next     *rangeOf `json:"next"`
	Loading  float64  `json:"loading_seconds"`
	Step     int64    `json:"step"`
	Loads    int64    `json:"loads"`
	Failures int64    `json:"failures"`
	LoadTime float64  `json:"load_seconds"`
	Returned int64    `json:"returned"`
}

// rangeOf is a range. Ids are strings, which JavaScript does not round.
type rangeOf struct {
	First int64 `json:"first,string"`
	End   int64 `json:"end,string"`
}

func newRange(r uid.Run) *rangeOf {
	if r.N == 0 {
		return nil
	}
	return &rangeOf{int64(r.First), int64(r.First) + r.N}
}

func (p *Page) document(all map[string]uid.Stats) document {
	now := p.now()
	d := document{Time: *instant(now), Process: p.process, Generators: []generator{}, Found: len(all)}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		d.Generators = append(d.Generators, describe(name, all[name], now))
	}
	return d
}

func describe(name string, s uid.Stats, now time.Time) generator {
	g := generator{
		head:          newHead(name, s, now),
		Remaining:     s.Remaining,
		Dropped:       s.Dropped,
		RejectedTakes: s.RejectedTakes,
		Starved:       s.Starved,
		Waited:        s.Waited.Seconds(),
		LastError:     text(s.LastError),
	}
	if c := s.Clock; c != nil {
		g.Clock = &clock{
			Layout:         c.Layout.String(),
			LayoutEnd:      instant(c.LayoutEnd),
			LayoutEndsSoon: c.LayoutEndsSoon,
			Worker:         c.Worker,
			WorkerMax:      figures.MaxWorker(c.Layout),
			WorkerChanges:  c.WorkerChanges,
			ReservedUntil:  instant(c.ReservedUntil),
			LeaseError:     text(c.LeaseError),
		}
	}
	if r := s.Ring; r != nil {
		g.Ring = &ring{
			Capacity:     r.Capacity,
			Threshold:    r.Threshold,
			Refills:      r.Refills,
			Helps:        r.Helps,
			RejectedPuts: r.RejectedPuts,
			OldestAge:    r.OldestAge.Seconds(),
			MaxAge:       limit(r.MaxAge),
			Borrowed:     r.Borrowed.Seconds(),
			MaxBorrow:    limit(r.MaxBorrow),
			Span:         figures.Span(&s),
		}
	}
	if l := s.Loads; l != nil {
		g.Loads = &loads{
			From:     l.From,
			Tag:      l.Tag,
			Instance: l.Instance,
			Changes:  l.Changes,
			InUse:    newRange(l.InUse),
			Next:     newRange(l.Next),
			Loading:  l.Loading.Seconds(),
			Step:     l.Step,
			Loads:    l.Loads,
			Failures: l.Failures,
			LoadTime: l.LoadTime.Seconds(),
			Returned: l.Returned,
		}
	}
	return g
}

// limit returns a limit in seconds, or nil for a negative one, which is none.
func limit(d time.Duration) *float64 {
	if d < 0 {
		return nil
	}
	return new(d.Seconds())
}

// instant returns t in RFC 3339, or nil for the zero time and for years that RFC
// 3339 cannot write.
func instant(t time.Time) *string {
	t = t.UTC()
	if t.IsZero() || t.Year() < 0 || t.Year() > 9999 {
		return nil
	}
	return new(t.Format(time.RFC3339Nano))
}

func text(err error) *string {
	if err == nil {
		return nil
	}
	return new(err.Error())
}
