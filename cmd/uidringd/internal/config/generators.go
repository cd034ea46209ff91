package config

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/cmd/internal/source"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/worker/lease"
)

func (c *Config) checkGenerators(d *document) {
	if len(c.Generators) == 0 {
		d.fault("generators", "is empty, want one or more")
	}
	d.list("generators", len(c.Generators), func(i int) string { return c.Generators[i].Common().Name })
	holders := map[string]string{} // of numbers that one generator can have, and the layouts of stores
	for i, entry := range c.Generators {
		at := item("generators", i)
		if d.unread(at + ".kind") {
			continue
		}
		entry.checkZeros(d, at)
		if clocked := entry.Clock(); clocked != nil {
			c.checkClocked(d, at, clocked, holders)
		}
		if cached, ok := entry.Settings.(*Cached); ok && !d.given(at+".boost_power") {
			cached.fitRing()
		}
		d.library(at+".", entry.validate())
		switch g := entry.Settings.(type) {
		case *Segment:
			c.checkCounter(d, at, &g.Counter)
			g.Tag = cmp.Or(g.Tag, g.Name)
			if err := segment.CheckTag(g.Tag); err != nil && !d.broken(at+".name") {
				d.fault(at+".tag", "%s", cli.WithoutPrefix(err))
			}
		case *Tags:
			c.checkCounter(d, at, &g.Counter)
			if !validPattern(g.Match) {
				d.fault(at+".match", "is %q, want a pattern such as order-*", g.Match)
			}
		}
		between(d, at+".ids", entry.Common().IDs, 0, greatestIDs)
	}
	c.checkPools(d)
}

// checkPools refuses a fixed number that another generator's lease may take first from
// the same store.
func (c *Config) checkPools(d *document) {
	for i, entry := range c.Generators {
		f := entry.Clock()
		if f == nil || f.Store == "" || f.Worker.Kind != source.Static && f.Worker.Kind != source.StatefulSet {
			continue
		}
		for j, other := range c.Generators {
			p, at := other.Clock(), item("generators", j)
			if d.unread(at+".worker") || d.unread(at+".numbers") || p == nil || p.Worker.Kind != source.Lease || p.Store != f.Store {
				continue
			}
			if p.Numbers == nil || f.Worker.Kind == source.Static && p.Numbers.From <= f.Worker.Number && f.Worker.Number <= p.Numbers.To {
				d.fault(item("generators", i)+".worker", "is %s, which %s may take first from %s: exclude it there, or use another store",
					f.Worker, other.Common().Name, f.Store)
			}
		}
	}
}

// Store returns the store of a name, nil if there is none.
func (c *Config) Store(name string) *Store {
	i := slices.IndexFunc(c.Stores, func(s Store) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Stores[i]
}

func (c *Config) uses(store string) bool {
	return slices.ContainsFunc(c.Generators, func(e Entry) bool { return e.StoreName() == store })
}

// names lists the stores for an error.
func (c *Config) names() string {
	var names []string
	for _, s := range c.Stores {
		if s.Name != "" && !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	if names == nil {
		return "one of stores, which is empty"
	}
	return strings.Join(names, " or ")
}

func (c *Config) checkClocked(d *document, at string, g *Clocked, holders map[string]string) {
	store := c.Store(g.Store)
	leased := g.Worker.Kind != source.Registry && g.Store != ""
	unread := d.unread(at+".worker") || d.unread(at+".store") || d.lost("stores", "name")
	switch {
	case unread:
	case g.Store != "" && store == nil:
		d.fault(at+".store", "is %q, want %s", g.Store, c.names())
	case g.Store == "" && (g.Worker.Kind == source.Lease || g.Worker.Kind == source.Registry):
		d.fault(at+".store", "is missing: for worker %s, want %s", g.Worker.Kind, c.names())
	case g.Worker.Kind == source.Registry && store != nil && store.Backend() != database.SQL:
		d.fault(at+".worker", "is registry, which needs an SQL store, but %s is %s: want lease", g.Store, store.Backend())
	}
	if g.Worker.Kind == source.Static || g.Worker.Kind == source.StatefulSet {
		number := g.Worker.String()
		if other := holders[number+" "+g.Store]; other != "" {
			d.fault(at+".worker", "is %s, which %s has already: want another number, or lease", number, other)
		}
		holders[number+" "+g.Store] = at
	}
	if g.Store != "" && !d.unread(at+".layout") {
		text, store := "not set", "layout of "+g.Store
		if layout := g.Layout; layout != (bits.Layout{}) {
			layout.WorkerParts = ""
			text = layout.String()
		}
		if other := cmp.Or(holders[store], text); other != text {
			d.fault(at+".layout", "is %s, and that of another generator of %s is %s: want one layout for all, or a store of its own", text, g.Store, other)
		}
		holders[store] = text
	}
	layout := g.Layout
	settled := layout != (bits.Layout{}) || g.Store == "" // now, and not by the store
	if layout == (bits.Layout{}) {
		layout = bits.Fleet()
	}
	if a, err := bits.NewAllocator(layout); err == nil && !d.unread(at+".layout") {
		if end := layout.End(); !end.After(time.Now()) {
			d.fault(at+".layout", "is %s, which ended at %s: want one that ends later", layout, end.Format(time.RFC3339))
		}
		if settled && g.Worker.Kind == source.Static && g.Worker.Number > a.MaxWorker() {
			d.fault(at+".worker", "is static:%d, want a number from 0 to %d, the layout's greatest", g.Worker.Number, a.MaxWorker())
		}
		if site := g.Numbers != nil && g.Numbers.site != ""; site && layout.WorkerParts == "" {
			d.fault(at+".numbers", "is %s, and the layout names no parts of the worker number: want a layout that does, such as 31/region:3+process:13/16, since no store remembers the names", g.Numbers.site)
		} else if site {
			if g.Numbers.From, g.Numbers.To, err = a.WorkerRange(g.Numbers.site); err != nil {
				d.fault(at+".numbers", "%s", cli.WithoutPrefix(err))
			}
		} else if settled && g.Numbers != nil && g.Numbers.To > a.MaxWorker() {
			d.fault(at+".numbers", "is %d-%d, want numbers from 0 to %d, the layout's greatest", g.Numbers.From, g.Numbers.To, a.MaxWorker())
		}
	}
	if !(g.Rate >= 0 || g.Rate == -1) || math.IsInf(g.Rate, 0) {
		d.fault(at+".ids_per_s", "is %v, want more than 0, 0 for half of the layout's rate, or -1 for no limit", g.Rate)
	}
	if g.Worker.Kind != source.Lease && g.Numbers != nil && !unread {
		d.fault(at+".numbers", "needs worker: lease")
	}
	for _, key := range []string{at + ".window", at + ".expiry"} {
		if d.given(key) && !leased && !unread {
			d.fault(key, "is for a lease, but this generator has none")
		}
	}
	if leased {
		if g.Worker.Kind != source.Lease { // as in lease.Config: after a crash, the next holder waits for it
			g.Window = cmp.Or(g.Window, g.Expiry)
		}
		g.Window = cmp.Or(g.Window, lease.DefaultWindow)
		d.library(at+".", g.Lease(nil).Validate())
	} else {
		g.Window, g.Expiry = 0, 0
	}
}

func (c *Config) checkCounter(d *document, at string, g *Counter) {
	switch store := c.Store(g.Store); {
	case d.lost("stores", "name"):
	case g.Store == "":
		d.fault(at+".store", "is missing: want %s", c.names())
	case store == nil:
		d.fault(at+".store", "is %q, want %s", g.Store, c.names())
	case store.Backend() == database.SQL:
		g.Table = cmp.Or(g.Table, database.LeafAlloc)
		d.oneOf(at+".table", g.Table, database.LeafAlloc, database.Sequence)
	case store.Backend() != database.Redis:
		d.fault(at+".store", "is %q, which is %s: counters need an SQL store or redis", g.Store, store.Backend())
	case g.Table != "":
		d.fault(at+".table", "is for SQL stores, but %s is redis", g.Store)
	}
}
