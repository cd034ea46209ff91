package serve

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/uidring/uidring/cmd/uidringd/internal/config"
	"github.com/uidring/uidring/cmd/uidringd/internal/generators"
	"github.com/uidring/uidring/internal/test/need"
)

// newHandler returns the handler of a server with a cached generator, more of a config and its log.
func newHandler(t testing.TB, more string, log io.Writer) http.Handler {
	t.Helper()
	c, err := config.Parse([]byte(`generators: [{name: ids, kind: cached, layout: 31/1/31, ids_per_s: -1, worker: "static:1"}]`+"\n"+more), config.Flags{})
	need.Must(t, err)
	logger := newLogger(c, log)
	set, err := generators.Open(t.Context(), c, logger)
	need.Must(t, err)
	t.Cleanup(func() { _ = set.Close(context.Background()) })
	handler, err := newServer(c, set, nil, logger).handler()
	need.Must(t, err)
	return handler
}

// constant answers 19 digits that never change as the server answers an id.
func constant() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/{name}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"], w.Header()["Cache-Control"] = []string{"text/plain; charset=utf-8"}, []string{"no-store"}
		_, _ = io.WriteString(w, "1234567890123456789\n")
	})
	return mux
}

// discard is an answer that nobody reads.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}

// BenchmarkOne is a request for one id without net/http's own part: routing, metrics,
// access log, limits and the answer.
func BenchmarkOne(b *testing.B) {
	for _, impl := range []struct {
		name    string
		handler http.Handler
	}{{"constant", constant()}, {"uidringd", newHandler(b, "log: {requests_per_s: 0}", io.Discard)}} {
		b.Run("impl="+impl.name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				w, r := discard{http.Header{}}, httptest.NewRequest(http.MethodGet, "/v1/ids", nil)
				for pb.Next() {
					impl.handler.ServeHTTP(w, r)
				}
			})
		})
	}
}
