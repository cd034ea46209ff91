package generators

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/uidring/uidring/uid"
)

const (
	probeEvery = time.Second            // a generator is asked for an id at most once in this time
	patience   = 500 * time.Millisecond // a probe takes no longer
)

// probe finds out whether a generator under a worker number issues ids.
type probe struct {
	next func() (uid.ID, error)
	busy func() bool // whether a draw that takes long will succeed

	flight singleflight.Group
	mu     sync.Mutex
	at     time.Time // of the last draw; guarded by mu, as err
	err    error
}

func (p *probe) ask() error {
	p.mu.Lock()
	if time.Since(p.at) < probeEvery {
		defer p.mu.Unlock()
		return p.err
	}
	p.mu.Unlock()
	drawn := p.flight.DoChan("", func() (any, error) {
		_, err := p.next()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.at, p.err = time.Now(), err
		return nil, err
	})
	select {
	case result := <-drawn:
		return result.Err
	case <-time.After(patience):
		if p.busy() {
			return nil
		}
		return fmt.Errorf("no id within %v", patience)
	}
}

// Unready returns the names of the generators that cannot issue an id now, and why.
func (s *Set) Unready() map[string]error {
	faults := make([]error, len(s.members))
	var asking sync.WaitGroup
	for i, m := range s.members {
		asking.Go(func() { faults[i] = m.ask() })
	}
	asking.Wait()
	unready := map[string]error{}
	for i, err := range faults {
		if err != nil {
			unready[s.members[i].name] = err
		}
	}
	return unready
}

// Ready returns why the server should get no requests, of what Unready returned: a
// required generator is not ready, or none is. It returns nil if it should.
func (s *Set) Ready(unready map[string]error) error {
	if len(unready) == len(s.members) {
		return errors.New("no generator is ready")
	}
	for _, m := range s.members {
		if m.required && unready[m.name] != nil {
			return fmt.Errorf("generator %q is required", m.name)
		}
	}
	return nil
}

// Names returns the names of the generators in the config, in its order.
func (s *Set) Names() []string {
	names := make([]string, len(s.members))
	for i, m := range s.members {
		names[i] = m.name
	}
	return names
}

func (m *member) ask() error {
	switch now := m.state.Load(); {
	case now.err != nil:
		return m.fault()
	case now.probe != nil:
		return now.probe.ask()
	default:
		return allFail(now.stats())
	}
}

// allFail returns why none of the counters can issue an id, nil if one can or there is
// none.
func allFail(counters map[string]uid.Stats) error {
	var fault error
	for _, s := range counters {
		switch {
		case s.Closed:
			fault = errors.New("it is closed")
		case s.LastError != nil && s.Remaining == 0:
			fault = s.LastError
		default:
			return nil
		}
	}
	return fault
}
