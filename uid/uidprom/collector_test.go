package uidprom

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/uidring/uidring/internal/figures"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

var (
	_ uid.Reporter = (*uid.Cached)(nil)
	_ uid.Reporter = (*uid.Default)(nil)
)

// The error names every fault, and no generator that is good. TestNewRefuses of uidstatus has faults of every kind.
func TestNewRefuses(t *testing.T) {
	c, err := New(map[string]uid.Reporter{"": calm(), "none": nil, "good": calm()})
	if c != nil || !errors.Is(err, uid.ErrConfig) {
		t.Fatalf("got %v, %v, want an error that matches uid.ErrConfig", c, err)
	}
	for text, want := range map[string]bool{`the name is ""`: true, `"none" is nil`: true, "good": false} {
		if strings.Contains(err.Error(), text) != want {
			t.Errorf("%v\nwant %s in it: %t", err, text, want)
		}
	}
	if _, err := New(nil); !errors.Is(err, uid.ErrConfig) {
		t.Errorf("without generators the error is %v, want one that matches uid.ErrConfig", err)
	}
}

// Each part of an app may register its own, but no name twice.
func TestSeveralCollectors(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	register := func(names ...string) (prometheus.Collector, error) {
		t.Helper()
		generators := map[string]uid.Reporter{}
		for _, name := range names {
			generators[name] = calm()
		}
		c, err := New(generators)
		need.Must(t, err)
		return c, registry.Register(c)
	}
	_, first := register("orders")
	second, err := register("sessions")
	need.Must(t, errors.Join(first, err))
	if _, err := register("orders"); !errors.As(err, new(prometheus.AlreadyRegisteredError)) {
		t.Errorf("the second collector of a name: %v, want AlreadyRegisteredError", err)
	}
	if _, err := register("orders", "carts"); err == nil {
		t.Error("a collector that has a name of another is registered")
	}
	if families, err := registry.Gather(); err != nil || len(families[0].GetMetric()) != 2 {
		t.Errorf("gathered %v, %v, want two of each", families[0], err)
	}
	if !registry.Unregister(second) {
		t.Error("it cannot be unregistered")
	}
	if _, err := register("sessions"); err != nil {
		t.Errorf("once the other is unregistered: %v", err)
	}
}

func BenchmarkCollect(b *testing.B) {
	gen, err := uid.NewCached(context.Background(), lease.NewStatic(1), uid.CachedConfig{})
	need.Must(b, err)
	defer gen.Close()
	c, err := New(map[string]uid.Reporter{"orders": gen})
	need.Must(b, err)
	collected := make(chan prometheus.Metric, len(figures.All))
	b.ReportAllocs()
	for b.Loop() {
		c.Collect(collected)
		for len(collected) > 0 {
			<-collected
		}
	}
}
