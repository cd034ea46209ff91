//go:build linux

package torture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// What a run takes from the environment; the package comment tells what for.
const (
	onVariable    = "UIDRING_TORTURE"
	idsVariable   = "UIDRING_TORTURE_IDS"
	seedVariable  = "UIDRING_TORTURE_SEED"
	faultVariable = "UIDRING_TORTURE_FAULT"
)

// shortIDs is how many ids the short form collects.
const shortIDs = 5_000_000

func TestMain(m *testing.M) {
	if text := os.Getenv(orderVariable); text != "" {
		os.Exit(childMain(text))
	}
	goleak.VerifyTestMain(m)
}

// TestTorture is the run, on one database after the other.
func TestTorture(t *testing.T) {
	ctx := begin(t)
	ids := number(t, idsVariable, shortIDs) / int64(len(backends))
	seed := seeded(t)
	var reports []*report
	for i, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			deck := serverDeck
			if b.name == "sqlite" {
				deck = fileDeck
			}
			v, r := on(ctx, t, b.name, plan{
				ids: ids, seed: seed + uint64(i), deck: slices.Clone(deck), rate: 60_000,
				layout: layouts[(seed+uint64(i))%uint64(len(layouts))], fault: os.Getenv(faultVariable),
			})
			if v.count() > 0 {
				t.Error(v.String())
			}
			if len(r.missing) > 0 {
				t.Errorf("these did not happen: %q", r.missing)
			}
			t.Log("\n" + table([]*report{r}))
			reports = append(reports, r)
		})
	}
	if len(reports) > 0 {
		fmt.Print(table(reports)) // which -v shows, and a run that fails
	}
}

// Each fault that is seeded is found, by ids that repeat and by the history. What
// happens is what brings the fault to light, in the order of the deck.
func TestSeededFaults(t *testing.T) {
	ctx := begin(t)
	seed := seeded(t)
	for _, test := range []struct {
		fault string
		deck  []card
	}{
		// The dead had borrowed, and whoever follows starts with the present.
		{faultFloor, []card{cardPause, cardKill, cardKill, cardKill, cardKill, cardKill, cardQuiet}},
		// Nothing can be reserved, all go on nevertheless, and then some are followed.
		{faultWindow, []card{cardKill, cardLongLock, cardRest, cardKill, cardKill, cardKill, cardQuiet}},
		// What was borrowed is given back.
		{faultRelease, []card{cardPause, cardKill, cardClose, cardClose, cardClose, cardClose, cardClose, cardQuiet}},
	} {
		t.Run(test.fault, func(t *testing.T) {
			v, r := on(ctx, t, "sqlite", plan{
				ids: 600_000, seed: seed, rate: 40_000, layout: layouts[0], fault: test.fault, deck: test.deck,
			})
			t.Logf("\n%s%s", table([]*report{r}), v.String())
			if v.repeats == 0 || len(v.faults) < 2 {
				t.Errorf("%d repeats, %d faults: the run has not found what is broken", v.repeats, v.count())
			}
		})
	}
}

// begin skips the test unless it is asked for, and bounds it so that what was
// started is ended before the test binary runs out of time.
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

// on has a run take place on a database of its own.
func on(ctx context.Context, t *testing.T, name string, p plan) (verdict, *report) {
	dir, err := os.MkdirTemp("", "uidring-torture-")
	must(t, err)
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	p.limit = 2*time.Minute + time.Duration(p.ids/20_000)*time.Second
	for _, b := range backends {
		if b.name == name {
			return torture(ctx, t, b.open(ctx, t, dir), p)
		}
	}
	t.Fatalf("there is no database %s", name)
	return verdict{}, nil
}

// seeded is the seed of the run, which it logs.
func seeded(t *testing.T) uint64 {
	seed := uint64(number(t, seedVariable, rand.Int64N(1_000_000)))
	t.Logf("%s=%d", seedVariable, seed)
	return seed
}

// number is a number from the environment.
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
