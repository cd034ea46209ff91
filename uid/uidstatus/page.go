package uidstatus

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/figures"
	"github.com/uidring/uidring/uid"
)

//go:embed static
var static embed.FS

var page = template.Must(template.ParseFS(static, "static/page.html"))

// pageView is the page: of one generator, or a table of all.
type pageView struct {
	Time    string
	Millis  int64
	Process string
	Home    string
	Card    *card
	Search  string
	Found   string // how many there are, and their states
	Columns []*figures.Figure
	Rows    []row
}

type row struct {
	generator
	Link  string // to its own page
	Cells []cell // one for each column
}

type cell struct {
	*figures.Figure
	Label string
	Value string
	Why   string // the figure's note, where the value is what the note calls normal
	Share *int64 // of the figure's limit, in thousandths; nil without a limit
}

// Parts returns the value, cut where the page may break it: a layout after its commas.
func (c cell) Parts() []string {
	if c.Kind == figures.Info {
		return strings.SplitAfter(c.Value, ",")
	}
	return []string{c.Value}
}

// Issued is for the script, which computes the rate.
func (g generator) Issued() int64 { return g.stats.Issued }

// card is a generator as the only one on the page.
type card struct {
	generator
	Alone   bool // the process has no other generator
	Decodes bool // ids have parts
	Ring    picture
	Groups  []group
	Answer  *answer // to the id that was typed in; nil if none was
}

type group struct {
	Title string
	Cells []cell
}

type answer struct {
	Text  string // as it was typed
	Error string
	Parts [][2]string
}

func (p *Page) page(w http.ResponseWriter, r *http.Request) {
	query, now := r.URL.Query(), p.now()
	view := pageView{
		Time:    now.UTC().Format("15:04:05") + " UTC",
		Millis:  now.UnixMilli(),
		Process: p.process.describe(now),
		Home:    p.home,
		Search:  query.Get("q"),
	}
	all := p.all()
	found := len(all)
	if !choose(all, query) {
		refuse(w, http.StatusNotFound, "no generator has the name %q", query.Get("name"))
		return
	}
	list, count := ranked(all, mostRows, now)
	if len(list) == 1 && (found == 1 || query.Has("name")) {
		view.Card = newCard(list[0], found == 1, now)
		if clock := list[0].stats.Clock; clock != nil && query.Has("id") {
			view.Card.Answer = newAnswer(clock.Layout, query.Get("id"), now)
		}
	} else {
		view.Columns, view.Rows = newTable(list, now)
		view.Found = sentence(count, len(all), found)
	}
	var b bytes.Buffer
	if err := page.Execute(&b, view); err != nil { // a fault of the template, which the tests execute in full
		refuse(w, http.StatusInternalServerError, "%s", err.Error())
		return
	}
	write(w, "text/html; charset=utf-8", b.Bytes())
}

func sentence(count map[state]int, searched, found int) string {
	text := figures.Grouped(int64(found)) + " in all."
	if searched < found {
		text = figures.Grouped(int64(searched)) + " of " + figures.Grouped(int64(found)) + " found."
	}
	for _, state := range []state{failing, warning} {
		if n := count[state]; n > 0 {
			text += " " + state.Words() + ": " + figures.Grouped(int64(n)) + "."
		}
	}
	if searched > mostRows {
		text += fmt.Sprintf(" The table has %d: those in trouble, then those that issued most ids. Search for others.", mostRows)
	}
	return text
}

var columns = []string{"ids_issued_total", "takes_rejected_total", "ids_remaining", "borrowed_seconds", "worker_number", "loads_total", "load_failures_total"}

func newTable(list []generator, now time.Time) (heads []*figures.Figure, rows []row) {
	for _, name := range columns {
		f := figures.Named(name)
		if slices.ContainsFunc(list, func(g generator) bool { return f.Value(&g.stats) != nil }) {
			heads = append(heads, f)
		}
	}
	for _, g := range list {
		r := row{generator: g, Link: "?" + url.Values{"name": {g.Name}}.Encode()}
		for _, f := range heads {
			c := cell{Figure: f}
			if value := f.Value(&g.stats); value != nil {
				c.Value = show(value, now)
			}
			r.Cells = append(r.Cells, c)
		}
		rows = append(rows, r)
	}
	return heads, rows
}

func newCard(g generator, alone bool, now time.Time) *card {
	c := &card{generator: g, Alone: alone, Decodes: g.stats.Clock != nil, Ring: newPicture(g.stats)}
	for i := range figures.All {
		f := &figures.All[i]
		value := f.Value(&g.stats)
		if f.Group == "" || value == nil {
			continue
		}
		if n := len(c.Groups); n == 0 || c.Groups[n-1].Title != f.Group {
			c.Groups = append(c.Groups, group{Title: f.Group})
		}
		last := &c.Groups[len(c.Groups)-1]
		last.Cells = append(last.Cells, newCell(f, value, g.stats, now))
	}
	return c
}

func newCell(f *figures.Figure, value any, s uid.Stats, now time.Time) cell {
	c := cell{Figure: f, Label: f.Label, Value: show(value, now)}
	a, _ := figures.Number(value)
	if a != 0 && (f.Name != "borrowed_seconds" || s.Ring.Borrowed <= figures.Span(&s)) {
		c.Why = f.Note
	}
	if what, ok := strings.CutSuffix(f.Label, "behind the clock"); ok && a < 0 {
		c.Label, c.Value = what+"ahead of the clock", strings.TrimPrefix(c.Value, "-")
	}
	if limit := figures.Named(f.Limit); limit != nil && limit.Value(&s) != nil && a >= 0 {
		b, _ := figures.Number(limit.Value(&s))
		share := part(a, b)
		c.Share = &share
		c.Value += " of " + show(limit.Value(&s), now)
	}
	return c
}

func newAnswer(layout bits.Layout, typed string, now time.Time) *answer {
	a := &answer{Text: short(typed)}
	id, err := uid.ParseID(strings.TrimSpace(typed))
	allocator, unusable := bits.NewAllocator(layout)
	parts, foreign := bits.Parts{}, error(nil)
	if err == nil && unusable == nil {
		parts, foreign = allocator.Parse(int64(id))
	}
	if err := cmp.Or(err, unusable, foreign); err != nil {
		a.Error = err.Error()
		return a
	}
	a.Parts = [][2]string{
		{"Time", parts.Time.UTC().Format("2006-01-02 15:04:05.999999999") + " UTC, " + toGo(parts.Time, now)},
		{"Worker number", figures.Grouped(parts.Worker)},
		{"Sequence", figures.Grouped(parts.Sequence)},
		{"Tick", figures.Grouped(parts.Tick)},
	}
	return a
}
