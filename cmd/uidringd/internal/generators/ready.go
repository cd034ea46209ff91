package generators

import (
	"errors"
	"fmt"

	"github.com/uidring/uidring/uid"
)

// Unready returns the names of the generators that cannot issue an id now, and why.
func (s *Set) Unready() map[string]error {
	unready := map[string]error{}
	for _, m := range s.members {
		if err := m.unready(); err != nil {
			unready[m.name] = err
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

// unready returns why m cannot issue an id now, nil if it can.
func (m *member) unready() error {
	now := m.state.Load()
	if now.err != nil {
		return m.fault()
	}
	return allFail(now.stats())
}

// allFail returns why none of some generators can issue an id, nil if one can or there is
// none.
func allFail(all map[string]uid.Stats) error {
	var fault error
	for _, s := range all {
		switch {
		case s.Closed:
			fault = errors.New("it is closed")
		case s.Failing() && s.Remaining == 0:
			fault = s.LastError
		default:
			return nil
		}
	}
	return fault
}
