//go:build linux

package torture

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
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
	each := need.Number(t, idsVariable, shortIDs) / int64(len(backends))
	results := make([]result, len(backends))
	t.Cleanup(func() { // -v shows it, and a run that fails
		var ids []string
		for i, r := range results {
			if r.ids > 0 {
				fmt.Printf("%s: %s", backends[i].name, &r)
				ids = append(ids, fmt.Sprintf("%s %d", backends[i].name, r.ids))
			}
		}
		fmt.Println("ids of each:", strings.Join(ids, ", "))
	})
	for i, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			r := on(ctx, t, b.open, plan{ids: each, seed: seed(t), seeded: os.Getenv(faultVariable)})
			if len(r.faults) > 0 {
				t.Error("the judge has found faults")
			}
			if len(r.missing) > 0 {
				t.Errorf("these did not happen: %q", r.missing)
			}
			results[i] = r
		})
	}
}

// The judge finds each seeded fault, by ids that repeat and by ids that their process did
// not own. The deck has the actions that bring the fault to light, in order.
func TestSeededFaults(t *testing.T) {
	t.Parallel()
	ctx := begin(t)
	for _, test := range []struct {
		kinds int // of faults that are found
		plan
	}{
		// The killed process was ahead of the clock, and its successor starts with the present.
		{2, plan{seeded: faultFloor, only: kindSlots, deck: []card{pause, kill, kill, kill, kill, kill, quiet}}},
		// Nothing can be reserved, all processes continue, and then some have successors.
		{2, plan{seeded: faultWindow, only: kindCached, deck: []card{kill, longLock, idle, kill, kill, kill, quiet}}},
		// What was borrowed is given back.
		{2, plan{seeded: faultRelease, only: kindCached, deck: []card{pause, kill, restart, restart, restart, restart, restart, quiet}}},
		// The next reservation gets ids that others have reserved since.
		{1, plan{seeded: faultReturn, only: kindCounter, deck: append(slices.Repeat([]card{restart}, 10), quiet)}},
	} {
		t.Run(test.seeded, func(t *testing.T) {
			t.Parallel()
			test.ids, test.rate = 300_000, 40_000
			found(ctx, t, openSQLite, test.plan, test.kinds)
		})
	}
}

// found expects the judge to find repeats and so many kinds of faults in a run of a plan.
func found(ctx context.Context, t *testing.T, open opener, p plan, kinds int) {
	for p.pace = 1; p.pace <= slowest; p.pace *= 2 { // on a busy machine, a fault may not come to light at once
		p.seed = seed(t)
		if r := on(ctx, t, open, p); r.repeats > 0 && len(r.faults) >= kinds {
			return
		}
	}
	t.Error("no run has found what is broken")
}

// complete runs a plan until all events that it wants have happened. A busy machine may leave out an event.
func complete(ctx context.Context, t *testing.T, open opener, p plan) {
	t.Helper()
	for p.pace = 1; ; p.pace *= 2 {
		p.seed = seed(t)
		r := on(ctx, t, open, p)
		switch {
		case len(r.faults) > 0:
			t.Fatal("the judge has found faults")
		case len(r.missing) == 0:
			return
		case p.pace == slowest:
			t.Fatalf("these did not happen: %q", r.missing)
		}
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

// on runs a plan on a new backend, and logs the result.
func on(ctx context.Context, t *testing.T, open opener, p plan) result {
	b := open(ctx, t, t.TempDir())
	p.scripted = p.deck != nil || p.seeded != ""
	if p.deck == nil {
		p.deck, p.wants = deckOf(b), wantsOf(b)
	}
	p.rate = cmp.Or(p.rate, 20_000)
	if p.layout == (bits.Layout{}) {
		p.layout = short
	}
	r := torture(ctx, t, b, p)
	t.Log(&r)
	return r
}

// seed returns the seed of a run, and logs it.
func seed(t *testing.T) uint64 {
	n := uint64(need.Number(t, seedVariable, rand.Int64N(1_000_000)))
	t.Logf("%s=%d", seedVariable, n)
	return n
}
