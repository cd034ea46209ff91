package uidprom

import (
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

// The error names every fault, and no generator that is good. TestNewRefuses of uidstatus has faults of every kind.
func TestNewRefuses(t *testing.T) {
	c, err := New(map[string]uid.Reporter{"": calm(), "none": nil, "good": calm()})
	need.Faults(t, err, uid.ErrConfig, `the name is ""`, `"none" is nil`)
	none, err := New(nil)
	need.Error(t, err, uid.ErrConfig)
	if c != nil || none != nil {
		t.Errorf("%v and %v beside an error", c, none)
	}
}

// Each part of an app may register its own, but no name twice.
func TestSeveralCollectors(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	register := func(names ...string) error {
		t.Helper()
		generators := map[string]uid.Reporter{}
		for _, name := range names {
			generators[name] = calm()
		}
		c, err := New(generators)
		need.Must(t, err)
		return registry.Register(c)
	}
	need.Must(t, errors.Join(register("orders"), register("sessions")))
	for _, names := range [][]string{{"orders"}, {"orders", "carts"}} {
		if register(names...) == nil {
			t.Errorf("a collector of %q is registered, beside one that has a name of it", names)
		}
	}
	if families, err := registry.Gather(); err != nil || len(families[0].GetMetric()) != 2 {
		t.Errorf("gathered %v, %v, want two of each", families[0], err)
	}
}
