package api_test

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/uidringd/internal/api"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// entries is a catalog of what is in it, of a generator that cannot be opened, and of
// one that is lost.
type entries map[string]*service.Entry

func (entries) Source(string) (i, n int) { return 0, 1 }

func (e entries) Open(_ context.Context, name string) (*service.Entry, error) { return e.Get(name) }

func (e entries) Get(name string) (*service.Entry, error) {
	switch entry := e[name]; {
	case name == "unavailable":
		return nil, driverError{}
	case name == "lost":
		return nil, uid.ErrRewound
	case entry != nil:
		return entry, nil
	}
	return nil, service.ErrUnknown
}

// broken is a generator that fails.
type broken struct {
	err error // nil waits for the context
}

func (b broken) Claim(ctx context.Context, _ int64) (uid.Run, error) {
	if b.err != nil {
		return uid.Run{}, b.err
	}
	<-ctx.Done()
	return uid.Run{}, ctx.Err()
}

func (b broken) TryClaim(int64) (uid.Run, error) { return uid.Run{}, cmp.Or(b.err, uid.ErrNotReady) }

// secret is in the text of errors, as an address with a password is in a driver's.
const secret = "hunter2"

type driverError struct{}

func (driverError) Error() string { return "dial postgres://app:" + secret + "@db: refused" }

// newEntries returns a generator of each kind, and broken ones.
func newEntries(t testing.TB) entries {
	t.Helper()
	layout, err := bits.ParseLayout("41/datacenter:5+machine:5/12,epoch=2026-01-01,unit=1ms")
	need.Must(t, err)
	all := entries{}
	add := func(name, kind string, layout *bits.Layout, gen uid.Generator, err error) {
		need.Must(t, err)
		t.Cleanup(func() { gen.Close() })
		all[name] = &service.Entry{Name: name, Kind: kind, Claimer: gen, Layout: layout, Instance: name + "-1"}
	}
	cached, err := uid.NewCached(t.Context(), uid.NewStaticWorker(37), uid.CachedConfig{Layout: layout})
	add("cached", "cached", &layout, cached, err)
	def, err := uid.NewDefault(t.Context(), uid.NewStaticWorker(38), uid.DefaultConfig{Layout: layout})
	add("default", "default", &layout, def, err)
	slots, err := uid.NewSlots(t.Context(), uid.NewStaticWorker(39), uid.SlotsConfig{Layout: layout})
	add("slots", "slots", &layout, slots, err)
	counter, err := segment.New(t.Context(), new(segmenttest.Memory), "orders", segment.Config{Create: true, MinStep: 100_000})
	add("orders", "segment", nil, counter, err)
	for name, err := range map[string]error{
		"broken": driverError{}, "ended": uid.ErrTimeExhausted, "used-up": segment.ErrUsedUp,
		"rewound": uid.ErrRewound, "closed": uid.ErrClosed, "hangs": nil,
	} {
		all[name] = &service.Entry{Name: name, Kind: "cached", Claimer: broken{err: err}, Layout: &layout, MaxIDs: 10}
	}
	return all
}

func newHandler(t testing.TB, c service.Catalog, config service.Config) http.Handler {
	t.Helper()
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	s := service.New(c, config)
	return api.New(s, map[string]http.Handler{"GET /probe": http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})})
}

// ask sends a request; header holds lines such as "Accept: text/plain".
func ask(h http.Handler, method, target string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
