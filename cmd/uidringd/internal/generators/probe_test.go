package generators

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/uid"
)

// A probe draws at most one id a second, and waits for none longer than its patience. A
// draw that takes longer is a failure unless the generator is only busy.
func TestProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var draws atomic.Int64
		var takes time.Duration
		var fails error
		busy := false
		p := &probe{
			next: func() (uid.ID, error) { draws.Add(1); time.Sleep(takes); return 1, fails },
			busy: func() bool { return busy },
		}
		ask := func(want bool) {
			t.Helper()
			began := time.Now()
			if err := p.ask(); (err == nil) != want || time.Since(began) > patience {
				t.Errorf("after %v: %v; want ready %v", time.Since(began), err, want)
			}
		}
		ask(true)
		fails = errors.New("unavailable")
		ask(true) // asked less than a second ago
		time.Sleep(probeEvery)
		ask(false)
		ask(false)
		if draws.Load() != 2 {
			t.Errorf("%d ids were drawn, want 2", draws.Load())
		}
		time.Sleep(probeEvery)
		takes, fails = time.Minute, nil
		ask(false)
		busy = true
		ask(true)
		time.Sleep(takes)
		if draws.Load() != 3 {
			t.Errorf("%d ids were drawn, want 3: one draw at a time", draws.Load())
		}
	})
}
