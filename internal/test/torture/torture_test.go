//go:build linux

package torture

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/uidring/uidring/bits"
)

// The environment variables of a run. The package comment describes them.
const (
	onVariable    = "UIDRING_TORTURE"
	idsVariable   = "UIDRING_TORTURE_IDS"
	seedVariable  = "UIDRING_TORTURE_SEED"
	faultVariable = "UIDRING_TORTURE_FAULT"
)

// shortIDs is how many ids the short form collects.
const shortIDs = 6_000_000

func TestMain(m *testing.M) {
	if text := os.Getenv(orderVariable); text != "" {
		os.Exit(childMain(text))
	}
	goleak.VerifyTestMain(m)
}

// TestTorture is the run, on every backend.
func TestTorture(t *testing.T) {
	t.Parallel()
	ctx := begin(t)
	ids := number(t, idsVariable, shortIDs) / int64(len(backends))
	seed := seeded(t)
	reports := make([]*report, len(backends))
	t.Cleanup(func() { // -v shows it, and a run that fails
		if reports = slices.DeleteFunc(reports, func(r *report) bool { return r == nil }); len(reports) > 0 {
			fmt.Print(table(reports))
			fmt.Println(summary(reports))
		}
	})
	for i, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			v, r := on(ctx, t, b.open, plan{
				ids: ids, seed: seed + uint64(i), layout: layouts[(seed+uint64(i))%uint64(len(layouts))], fault: os.Getenv(faultVariable),
			})
			if v.count() > 0 {
				t.Error("the judge has found faults")
			}
			if len(r.missing) > 0 {
				t.Errorf("these did not happen: %q", r.missing)
			}
			reports[i] = r
		})
	}
}

// The judge finds each seeded fault, by ids that repeat and by ids that their process did
// not own. The deck has the actions that bring the fault to light, in order.
func TestSeededFaults(t *testing.T) {
	t.Parallel()
	ctx := begin(t)
	seed := seeded(t)
	for _, test := range []struct {
		fault string
		kinds int // of faults that are found
		only  kind
		deck  []card
	}{
		// The killed process was ahead of the clock, and its successor starts with the present.
		{faultFloor, 2, kindSlots, []card{pause, kill, kill, kill, kill, kill, quiet}},
		// Nothing can be reserved, all processes continue, and then some have successors.
		{faultWindow, 2, kindCached, []card{kill, longLock, idle, kill, kill, kill, quiet}},
		// What was borrowed is given back.
		{faultRelease, 2, kindCached, []card{pause, kill, restart, restart, restart, restart, restart, quiet}},
		// The next reservation gets ids that others have reserved since.
		{faultReturn, 1, kindCounter, []card{
			restart, restart, restart, restart, restart, restart, restart, restart, restart, restart, quiet,
		}},
	} {
		t.Run(test.fault, func(t *testing.T) {
			t.Parallel()
			for try := range uint64(5) { // on a busy machine, a fault may not come to light at once
				v, _ := on(ctx, t, openSQLite, plan{
					ids: 300_000, seed: seed + try, rate: 40_000, fault: test.fault, only: test.only, deck: test.deck,
				})
				if v.repeats > 0 && len(v.faults) >= test.kinds {
					return
				}
			}
			t.Error("five runs have not found what is broken")
		})
	}
}

// begin skips the test unless it is asked for. It bounds the test, so that
// processes are ended before the test binary runs out of time.
func begin(t *testing.T) context.Context {
	if os.Getenv(onVariable) == "" {
		t.Skip(onVariable + " is not set")
	}
	ctx := t.Context()
	if deadline, ok := t.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-90*time.Second))
		t.Cleanup(cancel)
	}
	return ctx
}

// on does a run on a backend of its own, and logs its result.
func on(ctx context.Context, t *testing.T, open opener, p plan) (verdict, *report) {
	dir, err := os.MkdirTemp("", "uidring-torture-")
	must(t, err)
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	b := open(ctx, t, dir)
	p.scripted = p.deck != nil || p.fault != ""
	if p.deck == nil {
		p.deck = deckOf(b)
	}
	p.rate = cmp.Or(p.rate, 20_000)
	if p.layout == (bits.Layout{}) {
		p.layout = layouts[0]
	}
	v, r := torture(ctx, t, b, p)
	t.Logf("\n%s%s", table([]*report{r}), v.String())
	return v, r
}

// seeded returns the seed of the run, and logs it.
func seeded(t *testing.T) uint64 {
	seed := uint64(number(t, seedVariable, rand.Int64N(1_000_000)))
	t.Logf("%s=%d", seedVariable, seed)
	return seed
}

// number returns a number from the environment.
func number(t *testing.T, variable string, otherwise int64) int64 {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		t.Fatalf("%s is %q, want a number", variable, text)
	}
	return n
}
