package uid_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

// The tests of this file measure the figures of the package documentation, in virtual time and with the defaults.

// stated returns a cell of the table in the package documentation: that of a kind in the row with a label.
func stated(t *testing.T, label, kind string) string {
	t.Helper()
	doc, err := os.ReadFile("doc.go")
	need.Must(t, err)
	column := map[string]int{"cached": 0, "default": 1}[kind]
	_, row, found := strings.Cut(string(doc), "\n//\t"+label+"  ")
	line, _, _ := strings.Cut(row, "\n")
	var cells []string
	for cell := range strings.SplitSeq(line, "  ") {
		if cell != "" {
			cells = append(cells, strings.TrimSpace(cell))
		}
	}
	if !found || len(cells) <= column {
		t.Fatalf("doc.go has no %q of %s: %q", label, kind, cells)
	}
	return cells[column]
}

// span returns the two durations of a cell, or the one twice.
func span(t *testing.T, cell string) (least, most time.Duration) {
	t.Helper()
	from, to, two := strings.Cut(cell, " to ")
	if !two {
		to = from
	}
	least, err1 := time.ParseDuration(from)
	most, err2 := time.ParseDuration(to)
	need.Must(t, errors.Join(err1, err2))
	return least, most
}

// outage is a store that becomes unavailable.
type outage struct {
	leasetest.Memory
	down atomic.Bool
}

func (o *outage) Read(ctx context.Context, number int64, expiry time.Duration) (*leasestore.Row, int64, error) {
	if o.down.Load() {
		return nil, 0, errors.New("the store is unavailable")
	}
	return o.Memory.Read(ctx, number, expiry)
}

func (o *outage) Swap(ctx context.Context, old string, w leasestore.Write) (bool, error) {
	if o.down.Load() {
		return false, errors.New("the store is unavailable")
	}
	return o.Memory.Swap(ctx, old, w)
}

// The layout of these tests has so many ids a second. Their number changes none of the figures.
const perSecond = 64

var slow = bits.Layout{TimeBits: 31, WorkerBits: 16, SequenceBits: 6, Epoch: bubble.Epoch, Unit: time.Second}

// draws calls Next at a rate, relative to the layout's, until f returns false.
func draws(rate float64, gen generator, f func(id uid.ID, err error) bool) {
	for {
		time.Sleep(time.Duration(float64(time.Second) / perSecond / rate))
		if !f(gen.Next()) {
			return
		}
	}
}

// How long calls succeed after the store has become unavailable, at whatever time since the last renewal.
func TestHowLongWithoutTheStore(t *testing.T) {
	for row, config := range map[string]lease.Config{"store down": {}, "store down, Assigner": {Assigner: lease.NewStatic(3)}} {
		for label, rate := range map[string]float64{"at a tenth of the rate": 0.1, "at the rate": 1, "at three times the rate": 3} {
			for _, kind := range ordered {
				cell := stated(t, row+", "+label, kind)
				if cell == "-" {
					continue
				}
				var shortest, longest time.Duration
				for phase := time.Duration(0); phase < 15*time.Second; phase += 600 * time.Millisecond {
					lasted := lastsFor(t, kind, rate, config, 2*time.Minute+phase)
					if longest = max(longest, lasted); shortest == 0 || lasted < shortest {
						shortest = lasted
					}
				}
				least, most := span(t, cell)
				slack := max((most-least)/2, least/8) // renewals come at random times
				if shortest < least || shortest > least+slack || longest > most || longest < most-slack {
					t.Errorf("%s, %s, %s: calls succeed for %v to %v; doc.go says %s", kind, row, label, shortest, longest, cell)
				}
			}
		}
	}
}

func lastsFor(t *testing.T, kind string, rate float64, config lease.Config, after time.Duration) (lasted time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		store := new(outage)
		config.Logger = quiet
		gen := under(t, kind, lease.New(store, config), uid.CachedConfig{Layout: slow, Logger: quiet})
		ends := time.Now().Add(after)
		draws(rate, gen, func(_ uid.ID, err error) bool {
			lasted = time.Since(ends)
			if err != nil && lasted < 0 {
				t.Fatalf("%s at %v of the rate: %v", kind, rate, err)
			}
			store.down.Store(lasted >= 0)
			return err == nil
		})
	})
	return lasted
}

// How old an id can be, and how long that can last after the clock has jumped an hour ahead, or the process was paused
// for an hour.
func TestHowOld(t *testing.T) {
	const jump = time.Hour
	for _, kind := range ordered {
		synctest.Test(t, func(t *testing.T) {
			var ahead atomic.Int64
			now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
			gen := under(t, kind, lease.NewStatic(1), uid.CachedConfig{Layout: virtual, Logger: quiet, Now: now})
			var oldest [2]time.Duration // before and after
			lasted, began := time.Duration(0), time.Now()
			draws(0.05, gen, func(id uid.ID, err error) bool {
				need.Must(t, err)
				age := now().Sub(parsed(t, gen, id).Time.Add(time.Second))
				if after := time.Since(began) - 10*time.Minute - time.Second/4; after < 0 {
					oldest[0] = max(oldest[0], age)
				} else if ahead.Swap(int64(jump)) != 0 && age > time.Minute {
					oldest[1], lasted = max(oldest[1], age), after
				}
				return time.Since(began) < 20*time.Minute
			})
			_, age := span(t, stated(t, "oldest id", kind))
			if oldest[0] > age || oldest[0] < age-age/8 {
				t.Errorf("%s: an id is %v old; doc.go says %v", kind, oldest[0], age)
			}
			if kind == "default" {
				return // reads its clock for each id, unless that is the system's
			}
			_, passes := span(t, stated(t, "older after a jump, for", kind))
			if lasted > passes || lasted < passes/8 || oldest[1] > jump+age {
				t.Errorf("%s: ids are up to %v old for %v after a jump; doc.go says %v", kind, oldest[1], lasted, passes)
			}
		})
	}
}

// How far an id is ahead of the clock at the layout's rate, with a burst of what a full ring has, and beyond the rate.
func TestHowFarAhead(t *testing.T) {
	for _, kind := range ordered {
		for label, config := range map[string]struct {
			rate  float64
			burst bool
		}{"furthest ahead, at the rate": {1, true}, "furthest ahead, above": {3, false}} {
			cell := stated(t, label, kind)
			if cell == "-" {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				c := uid.CachedConfig{Layout: slow, Logger: quiet}
				if !config.burst {
					c.MaxBorrow = time.Minute // in place of a day
				}
				gen, furthest, began := under(t, kind, lease.NewStatic(1), c), time.Duration(0), time.Now()
				see := func(id uid.ID, err error) bool {
					if err == nil {
						furthest = max(furthest, time.Until(parsed(t, gen, id).Time))
					}
					return time.Since(began) < 5*time.Minute
				}
				if ring := gen.Stats().Ring; ring != nil && config.burst {
					for range ring.Capacity {
						see(gen.Next())
					}
				}
				draws(config.rate, gen, see)
				_, want := span(t, cell)
				if c.MaxBorrow > 0 {
					want = time.Duration(want.Hours() / uid.DefaultMaxBorrow.Hours() * float64(c.MaxBorrow))
				}
				if furthest > want || furthest < want-want/8-time.Second {
					t.Errorf("%s, %s: an id is %v ahead; doc.go says %s", kind, label, furthest, cell)
				}
			})
		}
	}
}
