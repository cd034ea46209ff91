package uidstatus

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/uidring/uidring/internal/figures"
	"github.com/uidring/uidring/uid"
)

// document is what stats.json has. The package comment explains it.
type document struct {
	Time       time.Time   `json:"time"`
	Process    process     `json:"process"`
	Generators []generator `json:"generators"`
	Found      int         `json:"found"` // how many there are, although the document has fewer
}

// generator is a generator with the verdict on it, for the page and for JSON.
type generator struct {
	Name    string         `json:"name"`
	State   state          `json:"state"`
	Notes   []string       `json:"notes"`
	Figures map[string]any `json:"figures"`

	stats uid.Stats
}

func (g *generator) fill() {
	g.Figures = map[string]any{}
	for _, f := range figures.All {
		value := f.Value(&g.stats)
		if number, ok := figures.Number(value); ok {
			value = number
		} else if r, ok := value.(uid.Run); ok {
			value = [2]uid.ID{r.First, last(r)}
		}
		if value != nil {
			g.Figures[f.Name] = value
		}
	}
}

func last(r uid.Run) uid.ID { return r.First + uid.ID(r.N-1) }

// mostRows bounds the size of the page, and of stats.json without limit.
const mostRows = 100

func (p *Page) all() map[string]uid.Stats {
	all := make(map[string]uid.Stats, len(p.generators))
	if p.more != nil {
		maps.Copy(all, p.more())
	}
	for name, g := range p.generators {
		all[name] = g.Stats()
	}
	return all
}

// choose keeps the generator that a query names, or else all whose names contain its
// search. It is not ok for an unknown name.
func choose(all map[string]uid.Stats, query url.Values) (ok bool) {
	name, search := query.Get("name"), strings.ToLower(query.Get("q"))
	maps.DeleteFunc(all, func(other string, _ uid.Stats) bool {
		if query.Has("name") {
			return other != name
		}
		return !strings.Contains(strings.ToLower(other), search)
	})
	return len(all) > 0 || !query.Has("name")
}

// ranked returns the generators, the worst first and then by name, and how many are in each
// state. If there are more than most, the busiest of those that are well remain.
func ranked(all map[string]uid.Stats, most int, now time.Time) (list []generator, count map[state]int) {
	list, count = []generator{}, map[state]int{}
	for name, s := range all {
		state, notes := stateOf(s, now)
		list = append(list, generator{Name: name, State: state, Notes: notes, stats: s})
		count[state]++
	}
	byName := func(a, b generator) int {
		return cmp.Or(cmp.Compare(b.State.rank(), a.State.rank()), cmp.Compare(a.Name, b.Name))
	}
	if len(list) > most {
		slices.SortFunc(list, func(a, b generator) int {
			return cmp.Or(cmp.Compare(b.State.rank(), a.State.rank()), cmp.Compare(b.stats.Issued, a.stats.Issued), byName(a, b))
		})
		list = list[:most]
	}
	slices.SortFunc(list, byName)
	return list, count
}

func (p *Page) document(all map[string]uid.Stats, most int) document {
	d := document{Time: p.now().UTC(), Process: p.process, Found: len(all)}
	d.Generators, _ = ranked(all, most, d.Time)
	for i := range d.Generators {
		d.Generators[i].fill()
	}
	return d
}
