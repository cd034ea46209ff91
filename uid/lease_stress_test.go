package uid_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uidring/uidring/uid"
)

// Takers draw while grants are extended, lost and replaced, and until the
// generator is closed under their hands: no id repeats, each lies in a grant of
// its number, ids ascend, and none lies at or above what Close gave back.
func TestLeaseStress(t *testing.T) {
	for name, open := range map[string]func(*testing.T, *fakeLeaser, *clock) generator{
		"cached": func(t *testing.T, f *fakeLeaser, c *clock) generator {
			return cachedUnder(t, f, uid.Config{Layout: small, Now: c.now, BoostPower: 1, MaxBorrow: -1})
		},
		"default": func(t *testing.T, f *fakeLeaser, c *clock) generator {
			return defaultUnder(t, f, uid.Config{Layout: small, Now: c.now})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := clockAt(start)
			f := &fakeLeaser{number: 1, until: at(10)}
			gen := open(t, f, c)
			// Numbers go round, each from where the one before it ended: what a
			// number owns, it owns once.
			grants := map[int64][][2]int64{1: {{0, 10}}}
			var (
				stop   atomic.Bool
				wg     sync.WaitGroup
				mu     sync.Mutex
				all    = map[uid.ID]bool{}
				latest atomic.Int64
			)
			for range 4 {
				wg.Go(func() {
					for !stop.Load() {
						begun := latest.Load()
						id, err := gen.Next()
						if errors.Is(err, uid.ErrClosed) {
							return
						}
						if err != nil {
							continue
						}
						if int64(id) <= begun {
							t.Errorf("id %d, but a call had ended with %d before this one began", id, begun)
						}
						for before := latest.Load(); before < int64(id) && !latest.CompareAndSwap(before, int64(id)); {
							before = latest.Load()
						}
						mu.Lock()
						if all[id] {
							t.Errorf("id %d is dealt twice", id)
						}
						all[id] = true
						mu.Unlock()
					}
				})
			}
			end := int64(10)
			for n := range int64(300) {
				number := n%5 + 1
				if n%3 == 0 {
					f.granted(-1, time.Time{}, time.Time{}, errors.New("lost"))
				}
				mu.Lock()
				grants[number] = append(grants[number], [2]int64{end, end + 10})
				mu.Unlock()
				f.granted(number, at(end), at(end+10), nil)
				end += 10
				c.nanos.Store(at(end - 10 + n%10).UnixNano())
				time.Sleep(50 * time.Microsecond)
			}
			if err := gen.Close(); err != nil {
				t.Error(err)
			}
			stop.Store(true)
			wg.Wait()
			if len(all) < 100 {
				t.Fatalf("%d ids, want more to judge by", len(all))
			}
			for id := range all {
				parts, err := gen.Parse(id)
				if err != nil {
					t.Fatal(err)
				}
				covered := false
				for _, grant := range grants[parts.Worker] {
					covered = covered || grant[0] <= parts.Tick && parts.Tick < grant[1]
				}
				if !covered {
					t.Errorf("id %d: tick %d was never granted to worker %d", id, parts.Tick, parts.Worker)
				}
				if !at(parts.Tick + 1).Before(f.released[0].Add(time.Nanosecond)) {
					t.Errorf("id %d: tick %d was given back", id, parts.Tick)
				}
			}
		})
	}
}
