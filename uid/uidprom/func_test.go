package uidprom

import (
	"bytes"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/statstest"
	"github.com/uidring/uidring/uid"
)

func collectorOf(t testing.TB, f func() map[string]uid.Stats) prometheus.Collector {
	t.Helper()
	c, err := NewFunc(f)
	need.Must(t, err)
	return c
}

// What comes and goes has the metrics that a fixed generator has. Names that are not UTF-8
// are left out.
func TestFunc(t *testing.T) {
	all := map[string]uid.Stats{"not\xffutf8": statstest.Counters()["invoices"]}
	for name, g := range several() {
		all[name] = g.Stats()
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(collectorOf(t, func() map[string]uid.Stats { return all }))
	families, err := registry.Gather()
	need.Must(t, err)
	if got, want := text(t, families), text(t, gather(t, several())); !bytes.Equal(got, want) {
		t.Errorf("a scrape is\n%s\nwant\n%s", got, want)
	}
}

// Generators come and go between scrapes, beside fixed ones. No name is there twice.
func TestComeAndGo(t *testing.T) {
	all := map[string]uid.Stats{}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(collectorOf(t, func() map[string]uid.Stats { return all }))
	clocked, err := New(map[string]uid.Reporter{"orders": calm()})
	need.Must(t, err)
	registry.MustRegister(clocked)
	for _, names := range [][]string{{}, {"carts", "invoices"}, {"invoices"}} {
		clear(all)
		for _, name := range names {
			all[name] = statstest.Counters()["invoices"]
		}
		families, err := registry.Gather()
		found := 0
		for _, family := range families {
			if family.GetName() == "uidring_loads_total" {
				found = len(family.GetMetric())
			}
		}
		if err != nil || found != len(names) {
			t.Errorf("%d generators, %v, want %d", found, err, len(names))
		}
	}
	_, err = NewFunc(nil)
	need.Error(t, err, uid.ErrConfig)
	all["orders"] = statstest.Counters()["invoices"]
	if _, err := registry.Gather(); err == nil {
		t.Error("a name of two collectors is scraped")
	}
}
