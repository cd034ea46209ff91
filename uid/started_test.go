package uid_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// named is a leaser with a name.
type named struct{ *fakeLeaser }

func (named) String() string { return "shelf 7" }

// A start logs one line: what is stamped, and where the number is from.
func TestStartIsLogged(t *testing.T) {
	clock := clockAt(start)
	const layout = `layout="31/8/1,epoch=2026-01-01,unit=1s" `
	until := at(100)
	for _, test := range []struct {
		open func(*slog.Logger) (uid.Generator, error)
		want string
	}{
		{func(log *slog.Logger) (uid.Generator, error) {
			return uid.NewCached(t.Context(), uid.StaticWorker(7), uid.CachedConfig{Layout: small, Now: clock.now, Logger: log})
		}, "kind=Cached " + layout + `worker=7 store=uid.StaticWorker reserved_until="no end"`},
		{func(log *slog.Logger) (uid.Generator, error) {
			return uid.NewDefault(t.Context(), named{&fakeLeaser{number: 8, until: until}}, uid.DefaultConfig{Layout: small, Now: clock.now, Logger: log})
		}, "kind=Default " + layout + `worker=8 store="shelf 7" reserved_until=2026-01-01T00:01:40Z`},
		{func(log *slog.Logger) (uid.Generator, error) {
			return uid.NewSlots(t.Context(), &fakeLeaser{number: 9, until: until}, uid.SlotsConfig{Layout: small, Now: clock.now, Logger: log})
		}, "kind=Slots " + layout + `worker=9 store=*uid_test.fakeLeaser reserved_until=2026-01-01T00:01:40Z`},
		{func(log *slog.Logger) (uid.Generator, error) {
			assigned := lease.Forever(assigner(nil))
			if got, want := assigned.String(), "uid_test.assigner"; got != want {
				t.Errorf("a Permanent is %q, want %q", got, want)
			}
			b, err := uid.NewBackfill(t.Context(), unused(10), uid.BackfillConfig{Layout: small, Now: clock.now, Logger: log})
			if err == nil {
				err = b.Close()
			}
			return nil, err
		}, "kind=Backfill " + layout + `worker=10 store=uid_test.unused reserved_until="no end"`},
	} {
		var log strings.Builder
		gen, err := test.open(slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		if gen != nil {
			mustNext(t, gen)
			gen.Close()
		}
		if _, got, _ := strings.Cut(log.String(), " "); got != `level=INFO msg="uid: started" `+test.want+"\n" {
			t.Errorf("logged %s, want %s", got, test.want)
		}
	}
}
