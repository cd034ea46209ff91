package serve

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

// lookPause is how long one look at the generators serves all who ask.
const lookPause = time.Second

// readiness is the last look at the generators.
type readiness struct {
	mu      sync.Mutex
	at      time.Time
	unready map[string]error // never changes
}

func (s *server) healthz(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok\n") }

// readyz says whether this server should get requests, and which generators are not
// ready. With ?generator=name it says whether that generator is ready.
func (s *server) readyz(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("generator")
	unready, known, fault := s.ready(name)
	if !known {
		answer(w, http.StatusNotFound, fmt.Sprintf("there is no generator %.200q in the config\n", name))
		return
	}
	status, text := http.StatusOK, "ready\n"
	if fault != nil {
		status, text = http.StatusServiceUnavailable, fmt.Sprintf("not ready: %v\n", fault)
	}
	for _, generator := range s.set.Names() {
		if err := unready[generator]; err != nil && (name == "" || name == generator) {
			text += fmt.Sprintf("generator %q is not ready: %s\n", generator, service.Reason(err))
		}
	}
	answer(w, status, text)
}

func (s *server) serving(generator string) (serving, known bool) {
	_, known, fault := s.ready(generator)
	return fault == nil, known
}

// ready returns why a generator of the config should get no requests, nil if it should.
// Without a name, it returns that of the server. unready has all that are not ready.
func (s *server) ready(name string) (unready map[string]error, known bool, fault error) {
	if name != "" && !slices.Contains(s.set.Names(), name) {
		return nil, false, nil
	}
	if s.draining.Load() {
		return nil, true, service.ErrStopping
	}
	unready = s.look()
	switch {
	case name == "":
		fault = s.set.Ready(unready)
	case unready[name] != nil:
		fault = errors.New(service.Reason(unready[name]))
	}
	return unready, true, fault
}

// look returns which generators are not ready, and logs what has changed.
func (s *server) look() map[string]error {
	last := &s.readiness
	last.mu.Lock()
	defer last.mu.Unlock()
	if time.Since(last.at) < lookPause {
		return last.unready
	}
	unready := s.set.Unready()
	for name, err := range unready {
		if last.unready[name] == nil {
			s.logger.Error("not ready", "generator", name, "error", err)
		}
	}
	for name := range last.unready {
		if unready[name] == nil {
			s.logger.Info("ready again", "generator", name)
		}
	}
	last.at, last.unready = time.Now(), unready
	return unready
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff") // the text can quote the request
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // a client that has gone reads no error
}
