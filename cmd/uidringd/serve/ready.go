package serve

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

// readiness remembers which generators were not ready, so that changes are logged.
type readiness struct {
	mu    sync.Mutex
	names map[string]bool
}

func (s *server) healthz(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok\n") }

// readyz names the generators that are not ready, with reasons that have no text of a
// store. The log has that text.
func (s *server) readyz(w http.ResponseWriter, _ *http.Request) {
	if s.draining.Load() {
		answer(w, http.StatusServiceUnavailable, "not ready: the server is stopping\n")
		return
	}
	unready := s.look()
	if len(unready) == 0 {
		answer(w, http.StatusOK, "ready\n")
		return
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(unready)) {
		fmt.Fprintf(&text, "not ready: %s: %s\n", name, reason(unready[name]))
	}
	answer(w, http.StatusServiceUnavailable, text.String())
}

func (s *server) ready() bool { return !s.draining.Load() && len(s.look()) == 0 }

// look returns which generators are not ready, and logs what has changed.
func (s *server) look() map[string]error {
	unready := s.set.Unready()
	s.unready.mu.Lock()
	defer s.unready.mu.Unlock()
	for name, err := range unready {
		if !s.unready.names[name] {
			s.logger.Error("not ready", "generator", name, "error", err)
		}
	}
	for name := range s.unready.names {
		if unready[name] == nil {
			s.logger.Info("ready again", "generator", name)
		}
	}
	s.unready.names = map[string]bool{}
	for name := range unready {
		s.unready.names[name] = true
	}
	return unready
}

// reason says why without the text of a driver, which may show addresses.
func reason(err error) string {
	for _, known := range []struct {
		err  error
		text string
	}{
		{uid.ErrClosed, "it is closed"},
		{uid.ErrTimeExhausted, "its layout has run out of time"},
		{uid.ErrReservation, "no time is reserved under its worker number"},
		{uid.ErrClockBackward, "the clock has moved backward"},
		{segment.ErrUsedUp, "its counter is used up"},
		{segment.ErrRewound, "its store has gone back"},
		{segment.ErrUnknownTag, "its store has no such counter"},
		{segment.ErrAway, "its store is away"},
	} {
		if errors.Is(err, known.err) {
			return known.text
		}
	}
	return "it cannot issue ids; see the log"
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // a client that has gone reads no error
}
