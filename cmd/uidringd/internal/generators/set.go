// Package generators opens the generators of a config and serves them as a catalog.
//
// Generators stand alone: [Open] succeeds if one opens, and tries to open the others
// until [Set.Close]. Meanwhile a request for them fails, and their statistics say why. If
// all fail, Open fails, leaves none open, and names each generator and store that failed.
// [Set.Close] gives back worker numbers and unused ranges.
//
// A generator is ready unless it is closed, or fails with no id left. Tags are ready while an
// open tag can issue ids, or the store has answered the last opening of a tag. A server is
// ready while every generator is, except those that the config marks as optional, and at least
// one.
package generators

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/uidring/uidring/cmd/uidringd/internal/config"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/uid"
)

// Set is a [service.Catalog] of the generators of a config. Make one with [Open]. All
// methods may be called from any number of goroutines.
type Set struct {
	members []*member
	byName  map[string]*member
	starts  sync.WaitGroup
	stop    context.CancelFunc // ends starts
	created sync.Map           // names of the tables that starts created; written and read by numbers
}

// member is a generator of the config.
type member struct {
	*config.Generator
	logger *slog.Logger
	state  atomic.Pointer[state] // written by Open and keepStarting; read by all
}

// serves reports whether m may have a counter of a name under that name.
func (m *member) serves(name string) bool { return m.Kind == "tags" && config.Match(m.Match, name) }

// state is a generator that is open, or why it is not.
type state struct {
	err   error          // nil once the generator is open; the rest is zero before
	entry *service.Entry // nil for tags
	stats func() map[string]uid.Stats
	tags  *tags                         // nil for all other kinds
	ends  []func(context.Context) error // the last one is called first
	set   *Set
}

// Get implements [service.Catalog].
func (s *Set) Get(name string) (*service.Entry, error) {
	return s.find(name, func(t *tags) (*service.Entry, error) { return t.get(name) })
}

// Open implements [service.Catalog].
func (s *Set) Open(ctx context.Context, name string) (*service.Entry, error) {
	return s.find(name, func(t *tags) (*service.Entry, error) { return t.open(ctx, name) })
}

// find returns the generator of a name, or the first that tag finds in tags. While tags are not
// open, find does not look in others: they may count in another store.
func (s *Set) find(name string, tag func(*tags) (*service.Entry, error)) (*service.Entry, error) {
	if m := s.byName[name]; m != nil && m.Kind != "tags" {
		return m.state.Load().entry, m.fault()
	}
	for _, m := range s.members {
		if !m.serves(name) {
			continue
		}
		if err := m.fault(); err != nil {
			return nil, err
		}
		entry, err := tag(m.state.Load().tags)
		if !errors.Is(err, service.ErrUnknown) {
			return entry, err
		}
	}
	return nil, fmt.Errorf("%w: %q", service.ErrUnknown, name)
}

// Source implements [service.Catalog]: each generator of the config is a source.
func (s *Set) Source(name string) (i, n int) {
	if m := s.byName[name]; m != nil && m.Kind != "tags" {
		return slices.Index(s.members, m), len(s.members)
	}
	i = slices.IndexFunc(s.members, func(m *member) bool { return m.serves(name) })
	return max(i, 0), len(s.members) // an unknown name waits for nothing
}

// Stats returns the statistics of all generators, by name, and of the tags that are open. A
// generator that is not open says why as LastError, and its worker number is -1.
func (s *Set) Stats() map[string]uid.Stats {
	all := map[string]uid.Stats{}
	for _, m := range slices.Backward(s.members) { // the first one wins, as in Get
		if now := m.state.Load(); now.tags != nil {
			maps.Copy(all, now.stats())
		}
	}
	for _, m := range s.members {
		switch now := m.state.Load(); {
		case now.err != nil:
			all[m.Name] = m.notStarted()
		case now.tags == nil:
			maps.Copy(all, now.stats())
		}
	}
	return all
}

// Unready returns the names of the generators that cannot issue an id now, and why.
func (s *Set) Unready() map[string]error {
	unready := map[string]error{}
	for _, m := range s.members {
		if err := m.unready(); err != nil {
			unready[m.Name] = err
		}
	}
	return unready
}

// Ready returns why the server should get no requests, of what Unready returned: a generator that
// is not optional is not ready, or none is. It returns nil if it should.
func (s *Set) Ready(unready map[string]error) error {
	if len(unready) == len(s.members) {
		return errors.New("no generator is ready")
	}
	for _, m := range s.members {
		if !m.Optional && unready[m.Name] != nil {
			return fmt.Errorf("generator %q is not ready, and the config does not mark it as optional", m.Name)
		}
	}
	return nil
}

// Names returns the names of the generators in the config, in its order.
func (s *Set) Names() []string {
	names := make([]string, len(s.members))
	for i, m := range s.members {
		names[i] = m.Name
	}
	return names
}

// unready returns why m cannot issue an id now, nil if it can.
func (m *member) unready() error {
	now := m.state.Load()
	if now.err != nil {
		return m.fault()
	}
	if now.tags != nil {
		return now.tags.unready(now.stats())
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

// Close closes all generators at once, and gives back worker numbers and unused ranges
// as far as ctx allows. The error names each that could not be given back. Close is
// called once.
func (s *Set) Close(ctx context.Context) error {
	s.stop()
	started := make(chan struct{})
	go func() { s.starts.Wait(); close(started) }()
	select {
	case <-started:
	case <-ctx.Done(): // of a store that hangs
	}
	faults := make([]error, len(s.members))
	var closing sync.WaitGroup
	for i, m := range s.members {
		closing.Go(func() { faults[i] = m.state.Load().close(ctx) })
	}
	closing.Wait()
	return s.join(faults)
}

func (n *state) close(ctx context.Context) (err error) {
	for _, end := range slices.Backward(n.ends) {
		err = errors.Join(err, end(ctx))
	}
	return err
}

// join joins the faults of the members, with their names. A fault that several have, such as a
// store that is unavailable, stands there once, with the names of all.
func (s *Set) join(faults []error) error {
	var (
		all   []error
		whose = map[string]string{} // generators, by the text of their fault
	)
	for i, fault := range faults {
		if fault == nil {
			continue
		}
		text, name := fault.Error(), strconv.Quote(s.members[i].Name)
		if whose[text] == "" {
			all, whose[text] = append(all, fault), "generator "+name
		} else {
			whose[text] += ", " + name
		}
	}
	for i, fault := range all {
		all[i] = fmt.Errorf("%s: %w", whose[fault.Error()], fault)
	}
	return errors.Join(all...)
}

func newEntry(name, kind string, g *config.Generator) *service.Entry {
	return &service.Entry{Name: name, Kind: kind, MaxIDs: g.IDs, Instance: uuid.NewString()}
}
