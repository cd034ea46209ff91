package uidhttp

import (
	"fmt"
	"math"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// view is a generator as the page shows it. All that moves is in live; the page
// is made with it and the script puts newer ones in its place.
type view struct {
	live
	Anchor string
	Ring   bool
	Slots  []float64 // degrees at which one tick's ids end and the next one's begin
	Mark   float64   // degrees at which the threshold is
	Groups []group
	Answer *answer // to the id that was typed in; nil if none was
}

// group is some rows under a heading.
type group struct {
	Title string
	Rows  []row
}

// row is a figure. Key names it in live.Texts.
type row struct{ Key, Label string }

// answer is what became of an id that was typed in.
type answer struct {
	Text  string // as it was typed
	Error string
	Rows  []answerRow
}

type answerRow struct{ Label, Value string }

// live is what changes while one looks. live.json has it for the page's own use:
// it is not for others to rely on.
type live struct {
	Name      string            `json:"name"`
	State     state             `json:"state"`
	StateText string            `json:"stateText"`
	Notes     []string          `json:"notes"`
	Texts     map[string]string `json:"texts"`
	Issued    int64             `json:"issued"`
	Arc       int64             `json:"arc"`     // of the ring that is ready, in thousandths
	Bar       int64             `json:"bar"`     // of the bound that is borrowed, in thousandths
	Bounded   bool              `json:"bounded"` // the bound is known
	Refills   int64             `json:"refills"` // a change of it is shown
}

var stateTexts = map[state]string{fine: "In order", warning: "Needs a look", failing: "Makes no ids"}

func newLive(name string, layout bits.Layout, s uid.Stats, now time.Time) live {
	l := live{Name: name, Issued: s.Issued, Refills: s.Refills}
	l.State, l.Notes = judge(layout, s, now)
	l.StateText = stateTexts[l.State]
	l.Texts = map[string]string{
		"issued":   grouped(s.Issued),
		"rejected": grouped(s.RejectedTakes),
		"waited":   span(s.Waited),
		"worker":   grouped(s.Worker),
		"workers":  "0 to " + grouped(1<<layout.WorkerBits-1),
		"changes":  grouped(s.WorkerChanges),
		"reserved": reserved(s, now),
		"error":    sentence(s.LastError),
		"lease":    sentence(s.LeaseError),
		"widths":   fmt.Sprintf("%d time, %d worker, %d sequence", layout.TimeBits, layout.WorkerBits, layout.SequenceBits),
		"epoch":    epoch(layout.Epoch),
		"tick":     span(layout.Unit),
		"end":      end(s.LayoutEnd, now),
	}
	if s.Capacity == 0 {
		return l
	}
	l.Arc = part(float64(s.Remaining), float64(s.Capacity))
	limit, bounded := bound(s)
	l.Bounded = bounded
	borrowed := span(s.Borrowed)
	if bounded {
		l.Bar = part(float64(s.Borrowed), float64(limit))
		borrowed += " of " + span(limit)
	}
	for key, value := range map[string]string{
		"remaining": compact(s.Remaining),
		"capacity":  "of " + compact(s.Capacity),
		"threshold": compact(s.Threshold),
		"picture":   grouped(s.Remaining) + " of " + grouped(s.Capacity) + " ids are ready; below " + grouped(s.Threshold) + " the ring is filled again",
		"refills":   grouped(s.Refills),
		"helps":     grouped(s.Helps),
		"refused":   grouped(s.RejectedPuts),
		"dropped":   grouped(s.Dropped),
		"oldest":    age(s),
		"borrowed":  borrowed,
	} {
		l.Texts[key] = value
	}
	return l
}

func newView(name string, g Generator, now time.Time) view {
	layout, s := g.Layout(), g.Stats()
	v := view{live: newLive(name, layout, s, now), Anchor: anchor(name), Ring: s.Capacity > 0}
	ids := []row{{Key: "issued", Label: "Issued"}, {Key: "rejected", Label: "Calls that failed"}, {Key: "waited", Label: "Waited, all calls"}}
	if v.Ring {
		ids = append(ids, row{Key: "oldest", Label: "Oldest id"})
		v.Mark = 360 * float64(s.Threshold) / float64(s.Capacity)
		v.Slots = slots(s.Capacity >> layout.SequenceBits)
	}
	v.Groups = append(v.Groups, group{"Ids", ids})
	if v.Ring {
		v.Groups = append(v.Groups, group{"Ring", []row{
			{Key: "refills", Label: "Refills"},
			{Key: "helps", Label: "Ticks put by callers"},
			{Key: "refused", Label: "Ticks refused"},
			{Key: "dropped", Label: "Ids dropped"},
		}})
	}
	v.Groups = append(v.Groups,
		group{"Worker", []row{
			{Key: "worker", Label: "Number"},
			{Key: "workers", Label: "Range"},
			{Key: "reserved", Label: "Reserved until"},
			{Key: "changes", Label: "Numbers lost"},
		}},
		group{"Layout", []row{
			{Key: "widths", Label: "Bits"},
			{Key: "epoch", Label: "Epoch"},
			{Key: "tick", Label: "Tick"},
			{Key: "end", Label: "Ends"},
		}},
	)
	faults := []row{{Key: "lease", Label: "Lease"}}
	if v.Ring {
		faults = []row{{Key: "error", Label: "Ring"}, faults[0]}
	}
	v.Groups = append(v.Groups, group{"Last error", faults})
	return v
}

// take makes the answer to an id that was typed in.
func (v *view) take(g Generator, text string, now time.Time) {
	v.Answer = &answer{Text: short(text)}
	parts, _, err := parse(g, text)
	if err != nil {
		v.Answer.Error = err.Error()
		return
	}
	v.Answer.Rows = []answerRow{
		{"Time", parts.Time.UTC().Format("2006-01-02 15:04:05.999999999") + " UTC, " + toGo(parts.Time, now)},
		{"Worker", grouped(parts.Worker)},
		{"Sequence", grouped(parts.Sequence)},
		{"Tick", grouped(parts.Tick)},
	}
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

// part returns a of b in thousandths, from 0 to 1000, and 0 only if a is none.
func part(a, b float64) int64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	return int64(min(1000, max(1, math.Round(1000*a/b))))
}

func reserved(s uid.Stats, now time.Time) string {
	switch {
	case !s.ReservedUntil.IsZero():
		return when(s.ReservedUntil, now)
	case s.LeaseError != nil:
		return "nothing is reserved"
	default:
		return "not leased"
	}
}

// age returns how old the next id is.
func age(s uid.Stats) string {
	switch {
	case s.Remaining == 0:
		return "none is ready"
	case s.OldestAge < 0:
		return span(-s.OldestAge) + " ahead"
	default:
		return span(s.OldestAge) + " old"
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
