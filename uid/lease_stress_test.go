package uid_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

// Takers draw while numbers are lost and replaced, the clock moves, and until the
// generator is closed under their hands: no id repeats, each lies in a grant of its number,
// ids ascend, and none lies at or above what Close gave back. The count of issued ids is
// never too great, and exact in the end.
func TestLeaseStress(t *testing.T) {
	need.Time(t)
	names := []string{"Next", "NextN", "Wait", "WaitN"} // a loop claims ids that it does not yield
	for _, kind := range all {
		t.Run(kind, func(t *testing.T) {
			c := clockAt(start)
			f := &fakeLeaser{number: 1, until: at(10)}
			gen := under(t, kind, f, uid.CachedConfig{Layout: small, Now: c.now, BoostPower: 1, MaxBorrow: uid.Unlimited})
			// Numbers go round, each from where the one before it ended: what a
			// number owns, it owns once.
			grants := map[int64][][2]int64{1: {{0, 10}}}
			var (
				stop          atomic.Bool
				wg            sync.WaitGroup
				mu            sync.Mutex
				seen          = map[uid.ID]bool{}
				latest, asked atomic.Int64
			)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			for i := range 8 {
				wg.Go(func() {
					ids := make([]uid.ID, 5)
					for !stop.Load() {
						asked.Add(int64(len(ids)))
						begun := latest.Load()
						n, err := calls[names[i%len(names)]](ctx, gen, ids)
						if n == 0 && errors.Is(err, uid.ErrClosed) {
							return
						}
						if n == 0 {
							continue
						}
						if kind != "slots" && (int64(ids[0]) <= begun || !slices.IsSorted(ids[:n])) {
							t.Errorf("ids %d, but a call had ended with %d before this one began", ids[:n], begun)
						}
						note(&latest, int64(ids[n-1]))
						mu.Lock()
						for _, id := range ids[:n] {
							if seen[id] {
								t.Errorf("id %d is dealt twice", id)
							}
							seen[id] = true
						}
						mu.Unlock()
					}
				})
			}
			end, shown := int64(10), int64(0)
			for n := range int64(150) {
				number := n%5 + 1
				if n%3 == 0 {
					f.granted(-1, time.Time{}, time.Time{}, errors.New("lost"))
				}
				grants[number] = append(grants[number], [2]int64{end, end + 10})
				f.granted(number, at(end), at(end+10), nil)
				end += 10
				tick := end - 10 + n%10
				if kind == "slots" {
					tick -= rand.Int64N(end / 2)
				}
				c.nanos.Store(at(tick).UnixNano())
				time.Sleep(50 * time.Microsecond)
				if issued := gen.Stats().Issued; issued < shown || issued > asked.Load() {
					t.Fatalf("%d issued, after %d, with %d asked for", issued, shown, asked.Load())
				} else {
					shown = issued
				}
			}
			need.Must(t, gen.Close())
			stop.Store(true)
			wg.Wait()
			if issued := gen.Stats().Issued; len(seen) < 100 || issued != int64(len(seen)) {
				t.Fatalf("%d ids, want 100 or more to judge by, and %d issued", len(seen), issued)
			}
			for id := range seen {
				parts, err := gen.Parse(id)
				need.Must(t, err)
				granted := func(g [2]int64) bool { return g[0] <= parts.Tick && parts.Tick < g[1] }
				if !slices.ContainsFunc(grants[parts.Worker], granted) {
					t.Fatalf("id %d: tick %d was never granted to worker %d", id, parts.Tick, parts.Worker)
				}
				// Slots give back what the last grant has: the lease knows the others.
				if f.released[0].Before(at(parts.Tick+1)) && (kind != "slots" || parts.Tick >= end-10) {
					t.Fatalf("id %d: tick %d was given back", id, parts.Tick)
				}
			}
		})
	}
}

// note raises latest to last, unless it is greater already.
func note(latest *atomic.Int64, last int64) {
	for before := latest.Load(); before < last && !latest.CompareAndSwap(before, last); {
		before = latest.Load()
	}
}

// A number is lost and another granted while the generator closes: no id repeats, ids stay in
// order, and once Close has returned, none is issued. The windows between the two are a few instructions
// long, so `make stress-yields` runs this with yields between them.
func TestLossAtClose(t *testing.T) {
	four := small // ids a tick
	four.SequenceBits = 2
	for _, kind := range all {
		t.Run(kind, func(t *testing.T) {
			for range 2000 {
				c := clockAt(start)
				f := &fakeLeaser{number: 2, until: at(1000)}
				gen, err := kinds[kind](t.Context(), f, uid.CachedConfig{Layout: four, Now: c.now, BoostPower: 1, Logger: quiet})
				need.Must(t, err)
				var ids [2][]uid.ID
				var latest atomic.Int64
				var wg sync.WaitGroup
				for i := range ids {
					wg.Go(func() {
						for err := error(nil); err == nil || errors.Is(err, uid.ErrReservation) || errors.Is(err, uid.ErrNotReady); {
							var id uid.ID
							begun := latest.Load()
							if id, err = gen.Next(); err == nil {
								ids[i] = append(ids[i], id)
								if kind != "slots" && int64(id) <= begun {
									t.Errorf("id %d, but a call had ended with %d before this one began", id, begun)
								}
								note(&latest, int64(id))
							}
							if len(ids[i])%3 == 2 {
								c.step(time.Second)
							}
						}
					})
				}
				wg.Go(func() { f.losing(1, at(1000)) })
				need.Must(t, gen.Close())
				wg.Wait()
				for range 3 {
					if id, err := gen.Next(); !errors.Is(err, uid.ErrClosed) {
						t.Fatalf("Next() = %d, %v after Close", id, err)
					}
				}
				drawn := slices.Concat(ids[:]...)
				slices.Sort(drawn)
				if different := slices.Compact(slices.Clone(drawn)); len(different) != len(drawn) {
					t.Fatalf("ids repeat: %d", drawn)
				}
			}
		})
	}
}
