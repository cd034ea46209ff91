package api_test

import (
	"cmp"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/uidringd/internal/api"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/cmd/uidringd/internal/service/servicetest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
	"github.com/uidring/uidring/worker/lease"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newCatalog returns a generator of each kind, broken ones, one that cannot be opened, and one
// that is lost.
func newCatalog(t testing.TB) *servicetest.Catalog {
	t.Helper()
	layout, err := bits.ParseLayout("41/datacenter:5+machine:5/12,epoch=2026-01-01,unit=1ms")
	need.Must(t, err)
	c := servicetest.New()
	c.Errors["unavailable"], c.Errors["lost"] = servicetest.ErrDriver, uid.ErrRewound
	cached, err := uid.NewCached(t.Context(), lease.NewStatic(37), uid.CachedConfig{Layout: layout})
	c.Add(t, "cached", "cached", &layout, cached, err)
	def, err := uid.NewDefault(t.Context(), lease.NewStatic(38), uid.DefaultConfig{Layout: layout})
	c.Add(t, "default", "default", &layout, def, err)
	slots, err := uid.NewSlots(t.Context(), lease.NewStatic(39), uid.SlotsConfig{Layout: layout})
	c.Add(t, "slots", "slots", &layout, slots, err)
	counter, err := segment.New(t.Context(), new(segmenttest.Memory), "orders", segment.Config{Create: true, MinStep: 100_000})
	c.Add(t, "orders", "segment", nil, counter, err)
	for name, err := range map[string]error{
		"broken": servicetest.ErrDriver, "ended": uid.ErrTimeExhausted, "used-up": segment.ErrUsedUp,
		"rewound": uid.ErrRewound, "closed": uid.ErrClosed, "hangs": nil,
	} {
		c.Entries[name] = &service.Entry{Name: name, Kind: "cached", Claimer: servicetest.Broken{Err: err}, Layout: &layout, MaxIDs: 10}
	}
	return c
}

func newHandler(t testing.TB, c service.Catalog, config service.Config) http.Handler {
	t.Helper()
	config.Logger = cmp.Or(config.Logger, slog.New(slog.DiscardHandler))
	s := service.New(c, config)
	return api.New(s, map[string]http.Handler{"GET /probe": http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})})
}

// problem is the body of a failure.
type problem struct {
	Type, Title, Detail string
	Status              int
}

// request returns a request; header holds lines such as "Accept: text/plain".
func request(method, target, body string, header ...string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	return r
}

// ask sends a request without a body.
func ask(h http.Handler, method, target string, header ...string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, request(method, target, "", header...))
	return w
}
