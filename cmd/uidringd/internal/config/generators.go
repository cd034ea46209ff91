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
	d.list("generators", len(c.Generators), func(i int) string { return c.Generators[i].Name })
	holders := map[string]string{} // of numbers that one generator can have, and the layouts of stores
	for i := range c.Generators {
		g, at := &c.Generators[i], item("generators", i)
		if !isKind(g.Kind) {
			continue
		}
		if g.Clocked() {
			c.checkClocked(d, at, g, holders)
		} else {
			c.checkCounter(d, at, g)
		}
		if g.Kind == "cached" && !d.given(at+".boost_power") {
			g.fitRing()
		}
		d.library(at+".", g.validate())
	}
	c.checkPools(d)
}

// checkPools refuses a fixed number that another generator's lease may take first from
// the same store.
func (c *Config) checkPools(d *document) {
	for i, f := range c.Generators {
		if !f.fixed() || f.Store == "" {
			continue
		}
		for j, p := range c.Generators {
			at := item("generators", j)
			if d.unread(at+".worker") || d.unread(at+".numbers") || !p.Clocked() || p.Worker.Kind != source.Lease || p.Store != f.Store {
				continue
			}
			if p.Numbers == nil || f.Worker.Kind == source.Static && p.Numbers.From <= f.Worker.Number && f.Worker.Number <= p.Numbers.To {
				d.fault(item("generators", i)+".worker", "is %s, which %s may take first from %s: exclude it there, or use another store",
					f.Worker, p.Name, f.Store)
			}
		}
	}
}

// fixed reports whether g has a worker number that its config or the pod's name says.
func (g *Generator) fixed() bool {
	return g.Clocked() && (g.Worker.Kind == source.Static || g.Worker.Kind == source.StatefulSet)
}

// Store returns the store of a name, nil if there is none.
func (c *Config) Store(name string) *Store {
	for i := range c.Stores {
		if c.Stores[i].Name == name {
			return &c.Stores[i]
		}
	}
	return nil
}

// names lists the stores for an error.
func (c *Config) names() string {
	var names []string
	for _, s := range c.Stores {
		if s.Name != "" {
			names = append(names, s.Name)
		}
	}
	return cmp.Or(strings.Join(slices.Compact(names), " or "), "one of stores, which is empty")
}

func (c *Config) checkClocked(d *document, at string, g *Generator, holders map[string]string) {
	store := c.Store(g.Store)
	leased := g.Worker.Kind != source.Registry && g.Store != ""
	unread := d.unread(at+".worker") || d.unread(at+".store") || d.unread("stores[].name")
	switch {
	case unread:
	case g.Store != "" && store == nil:
		d.fault(at+".store", "is %q, want %s", g.Store, c.names())
	case g.Store == "" && (g.Worker.Kind == source.Lease || g.Worker.Kind == source.Registry):
		d.fault(at+".store", "is missing: for worker %s, want %s", g.Worker.Kind, c.names())
	case g.Worker.Kind == source.Registry && store != nil && store.Backend() != database.SQL:
		d.fault(at+".worker", "is registry, which needs an SQL store, but %s is %s: want lease", g.Store, store.Backend())
	}
	if g.fixed() {
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
	layout := cmp.Or(g.Layout, bits.Fleet())
	settled := g.Layout != (bits.Layout{}) || g.Store == "" // now, and not by the store
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
		d.library(at+".", g.LeaseConfig(nil).Validate())
	} else {
		g.Window, g.Expiry = 0, 0
	}
}

func (c *Config) checkCounter(d *document, at string, g *Generator) {
	switch store := c.Store(g.Store); {
	case d.unread("stores[].name"):
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
	if !validPattern(g.Match) {
		d.fault(at+".match", "is %q, want a pattern such as order-*", g.Match)
	}
	if g.Kind == "tags" {
		return
	}
	g.Tag = cmp.Or(g.Tag, g.Name)
	if err := segment.CheckTag(g.Tag); err != nil && !d.broken(at+".name") {
		d.fault(at+".tag", "%s", cli.WithoutPrefix(err))
	}
}
