// Package lifecycle asks a store for everything that a service asks it for, as a test does whose
// user has the documented rights and no others. It imports uid and lease, since a service does.
package lifecycle

import (
	"context"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// Run starts a generator, waits for a renewal, takes its number away as "uidring workers release"
// does, closes it, and starts another. A start with another layout is refused. Run fails if one
// of them logs a warning of rights.
func Run(t *testing.T, leaser func(lease.Config) *lease.Leaser) {
	t.Helper()
	var out logged.Text
	log := out.Logger()
	config := lease.Config{Expiry: 4 * time.Second, Logger: log, Node: lease.Node{Host: "billing-7", Port: "8080", Type: lease.NodeActual}}
	start := func() *uid.Cached {
		gen, err := uid.NewCached(t.Context(), leaser(config), uid.CachedConfig{Logger: log})
		need.Must(t, err)
		return gen
	}
	gen := start()
	until := gen.Stats().Clock.ReservedUntil
	servertest.Eventually(t, "the lease is renewed", func() bool { return gen.Stats().Clock.ReservedUntil.After(until) })
	var rows []lease.Info
	var err error
	servertest.Eventually(t, "the number is held", func() bool { // on a slow disk, a renewal can come after the expiry
		rows, err = leaser(config).Leases(t.Context(), 1)
		return err != nil || len(rows) == 1 && rows[0].State == lease.StateHeld
	})
	need.Must(t, err)
	need.Must(t, leaser(config).Revoke(t.Context(), rows[0].Number))
	servertest.Eventually(t, "there is another number", func() bool { s := gen.Stats(); return s.Clock.WorkerChanges == 1 && s.LastError == nil })
	_, err = gen.Wait(t.Context())
	need.Must(t, err)
	need.Must(t, gen.Close())
	need.Must(t, start().Close())
	_, err = uid.NewCached(t.Context(), leaser(config), uid.CachedConfig{Layout: bits.LongLived(), Logger: log})
	need.Error(t, err, lease.ErrLayout)
	late := out.Count("level=WARN", "cannot renew the number", context.DeadlineExceeded.Error()) + // on a slow machine
		out.Count("level=WARN", "no number is held", context.DeadlineExceeded.Error())
	if n := out.Count("level=WARN") - out.Count("level=WARN", "the number is lost") - late; n > 0 {
		t.Errorf("%d warnings: %s", n, &out)
	}
}
