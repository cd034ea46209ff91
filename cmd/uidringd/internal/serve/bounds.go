package serve

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/uidring/uidring/cmd/uidringd/internal/api"
	"github.com/uidring/uidring/cmd/uidringd/internal/config"
	"github.com/uidring/uidring/cmd/uidringd/internal/gate"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

// spareFiles are for stores, certificates and the listener.
const spareFiles = 128

// fits returns the limits of connections, as far as the system allows so many open files,
// and a fault if it allows fewer.
func fits(l config.Limits) (gate.Limits, error) {
	limits := gate.Limits{All: l.Connections, One: l.PerAddress}
	files, known := openFiles()
	if !known || limits.All <= files-spareFiles-gate.Extras {
		return limits, nil
	}
	limits.All = max(1, files-spareFiles-gate.Extras)
	return limits, fmt.Errorf("limits.connections is %d, and the system allows %d open files: the server takes %d connections; "+
		"raise RLIMIT_NOFILE to %d, or lower the limit", l.Connections, files, limits.All, l.Connections+spareFiles+gate.Extras)
}

// bounded refuses requests of HTTP as begin says, with 503. Probes pass always.
func (s *server) bounded(next http.Handler, limits config.Limits) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if probe(r) {
			next.ServeHTTP(w, r)
			return
		}
		clients, extra := gate.Of(r.Context())
		defer s.end(clients)
		switch err := s.begin(limits, clients, extra); {
		case errors.Is(err, errAbort):
			panic(http.ErrAbortHandler)
		case err != nil:
			w.Header().Set("Connection", "close")
			api.WriteProblem(w, err)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// errAbort cuts a client off that would hold memory although it is refused: one that reads
// nothing.
var errAbort = errors.New("far too many requests are under way")

// begin counts a request until end, and returns why it is refused: an [*service.Error] or
// errAbort. It refuses requests above limits.requests, those of an address above its share,
// and those on extra connections. An address has the same share of the requests as of the
// connections.
func (s *server) begin(limits config.Limits, clients *gate.Clients, extra bool) error {
	most := int64(limits.Running)
	share := max(1, min(most, most*int64(limits.PerAddress)/int64(limits.Connections)))
	above := func(n, limit int64) bool { return n > limit+limit/4+1 }
	running, here := s.running.Add(1), clients.Requests.Add(1)
	detail := ""
	switch {
	case above(running, most), above(here, share):
		return errAbort
	case running > most:
		detail = "too many requests are under way"
	case here > share:
		detail = "too many requests of this address are under way"
	case extra:
		detail = "too many connections are busy"
	default:
		return nil
	}
	return &service.Error{Kind: service.Unavailable, Detail: detail, Retry: retryBusy}
}

func (s *server) end(clients *gate.Clients) {
	s.running.Add(-1)
	clients.Requests.Add(-1)
}

// retryBusy is when to try again after a refusal.
const retryBusy = time.Second

// probe reports whether a request asks for the server's health. Watch lasts, and is none.
func probe(r *http.Request) bool {
	return r.URL.Path == "/healthz" || r.URL.Path == "/readyz" || strings.HasSuffix(r.URL.Path, "/grpc.health.v1.Health/Check")
}
