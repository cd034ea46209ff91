package uid_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// A start beside a crashed holder, of whatever window, succeeds when calls do, and no sooner.
// Next then makes ids from the first call on, of every kind.
func TestStartAfterACrash(t *testing.T) {
	for _, kind := range all {
		for _, window := range []time.Duration{time.Minute, 10 * time.Minute, time.Hour} {
			t.Run(kind+"/"+window.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var log logged.Text
					store := new(outage) // of a process that dies
					dead, err := kinds[kind](t.Context(), lease.New(store, lease.Config{Assigner: lease.NewStatic(3), Window: window, Logger: quiet}), uid.CachedConfig{Layout: virtual, Logger: quiet})
					need.Must(t, err)
					before := mustNext(t, dead)
					store.down.Store(true)
					defer dead.Close()
					began := time.Now()
					gen := under(t, kind, lease.New(&store.Memory, lease.Config{Assigner: lease.NewStatic(3), Logger: log.Logger()}), uid.CachedConfig{Layout: virtual, Logger: log.Logger()})
					started := time.Since(began)
					after := mustNext(t, gen)
					if waited := time.Since(began) - started; after <= before || waited > 2*time.Second {
						t.Errorf("id %d after %d, %v after the start; want an id at once", after, before, waited)
					}
					if most := 75 * time.Second; started > most && (kind != "default" || window == time.Minute) || started > window+most {
						t.Errorf("started after %v", started)
					}
					if n := log.Count("waiting until"); n < 1 || n > 2 {
						t.Errorf("%d lines about the wait: %s", n, &log)
					}
				})
			})
		}
	}
}
