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
	return limits, fmt.Errorf("limits.connections is %d, but the system allows %d open files: the server accepts %d connections; "+
		"raise RLIMIT_NOFILE to %d, or lower the limit", l.Connections, files, limits.All, l.Connections+spareFiles+gate.Extras)
}

// bounded refuses requests of HTTP as begin says, with 503. Probes have limits of their own, and
// pass however many other requests are under way.
func (s *server) bounded(next http.Handler, limits config.Limits) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		clients, extra := gate.From(r.Context()).Clients()
		if probe(r) {
			defer s.probes.Add(-1)
			defer clients.Probes.Add(-1)
			if all, here := s.probes.Add(1), clients.Probes.Add(1); here > probes.share || probes.crowded(all, here) {
				panic(http.ErrAbortHandler)
			}
			next.ServeHTTP(w, r)
			flush(w, r)
			return
		}
		err := s.begin(limits, clients, extra)
		defer s.end(clients, err)
		switch {
		case errors.Is(err, errAbort):
			panic(http.ErrAbortHandler)
		case err != nil:
			w.Header().Set("Connection", "close")
			api.WriteProblem(w, err)
		default:
			next.ServeHTTP(w, r)
		}
		flush(w, r)
	})
}

// flush has an answer by HTTP/2 count until its client has taken it. net/http would write a short
// one after the handlers have ended, and wait for a client that takes nothing.
func flush(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor == 2 {
		_ = http.NewResponseController(w).Flush() // fails if the client has gone
	}
}

// bound is how much may be under way at once.
type bound struct {
	most  int64 // of all addresses
	share int64 // of an address
	few   int64 // of an address that has room above most, which a few addresses can use up
}

// crowded reports whether to refuse an address that has here of all the places in use.
func (b bound) crowded(all, here int64) bool {
	return all > b.most && (here > b.few || all > b.most+b.most/4)
}

// probes are bounded since clients that read no answer can hold each until limits.write.
var probes = bound{most: 1024, share: 64, few: 4}

// errAbort cuts a client off that would hold memory although it is refused: one that reads
// nothing.
var errAbort = errors.New("far too many requests are under way")

// few is how many requests of an address have room above limits.requests.
const few = 32

// begin counts a request until end, and returns why it is refused: an [*service.Error] or
// errAbort. An address has the same share of the requests as of the connections. A quarter
// as many refused requests may wait for their answers; begin cuts off the clients of others.
func (s *server) begin(limits config.Limits, clients *gate.Clients, extra bool) error {
	requests := bound{most: int64(limits.Running), few: few}
	requests.share = max(1, min(requests.most, requests.most*int64(limits.PerAddress)/int64(limits.Connections)))
	running, here := s.running.Add(1), clients.Requests.Add(1)
	var detail string
	switch {
	case requests.crowded(running, here):
		detail = "too many requests are under way"
	case here > requests.share:
		detail = "too many requests of this address are under way"
	case extra:
		detail = "too many connections are busy"
	default:
		return nil
	}
	s.running.Add(-1)
	clients.Requests.Add(-1)
	if all, here := s.refused.Add(1), clients.Refused.Add(1); all > requests.most/4+1 || here > requests.share/4+1 {
		return errAbort
	}
	return &service.Error{Kind: service.Unavailable, Detail: detail, Retry: retryBusy}
}

// end ends what begin has begun, which returned err.
func (s *server) end(clients *gate.Clients, err error) {
	all, here := &s.running, &clients.Requests
	if err != nil {
		all, here = &s.refused, &clients.Refused
	}
	all.Add(-1)
	here.Add(-1)
}

// retryBusy is when to try again after a refusal.
const retryBusy = time.Second

// probe reports whether a request asks for the server's health. Watch lasts, and is none.
func probe(r *http.Request) bool {
	return r.URL.Path == "/healthz" || r.URL.Path == "/readyz" || strings.HasSuffix(r.URL.Path, "/grpc.health.v1.Health/Check")
}
