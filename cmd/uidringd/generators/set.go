package generators

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strconv"
	"sync"

	"github.com/google/uuid"

	"github.com/uidring/uidring/cmd/uidringd/catalog"
	"github.com/uidring/uidring/cmd/uidringd/config"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/uidstatus"
)

// Set is a [catalog.Catalog] of open generators. Make one with [Open]. All methods may
// be called from any number of goroutines.
type Set struct {
	members []*member
	byName  map[string]*member
}

// member is a generator of the config.
type member struct {
	name  string
	entry *catalog.Entry      // nil for tags
	clock uidstatus.Generator // nil for counters
	stats func() map[string]segment.Stats
	tags  *tags // nil for all other kinds
	probe probe
	ends  []func(context.Context) error // in the order of calls
}

// Open opens the generators of a checked config. ctx bounds the start only.
func Open(ctx context.Context, c *config.Config, logger *slog.Logger) (*Set, error) {
	s := &Set{members: make([]*member, len(c.Generators)), byName: map[string]*member{}}
	faults := make([]error, len(c.Generators))
	open := func(only func(kind string) bool) {
		var opening sync.WaitGroup
		for i, entry := range c.Generators {
			m := s.members[i]
			if !only(entry.Common().Kind) {
				continue
			}
			opening.Go(func() { faults[i] = m.open(ctx, c, entry.Generator, logger.With("generator", m.name)) })
		}
		opening.Wait()
	}
	for i, entry := range c.Generators {
		s.members[i] = &member{name: entry.Common().Name}
		s.byName[s.members[i].name] = s.members[i]
	}
	open(func(kind string) bool { return kind != "tags" })
	open(func(kind string) bool { return kind == "tags" }) // others may create what they need
	if err := s.join(faults); err != nil {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.Shutdown.Release)
		defer cancel()
		return nil, errors.Join(err, s.Close(closing))
	}
	return s, nil
}

// Get implements [catalog.Catalog].
func (s *Set) Get(ctx context.Context, name string) (*catalog.Entry, error) {
	if m := s.byName[name]; m != nil && m.entry != nil {
		return m.entry, nil
	}
	for _, m := range s.members {
		if m.tags == nil {
			continue
		}
		entry, err := m.tags.get(ctx, name)
		if !errors.Is(err, catalog.ErrUnknown) {
			return entry, err
		}
	}
	return nil, fmt.Errorf("%w: %q", catalog.ErrUnknown, name)
}

// List returns the entries that are open, in the order of the config.
func (s *Set) List() []*catalog.Entry {
	var all []*catalog.Entry
	for _, m := range s.members {
		if m.tags != nil {
			all = append(all, m.tags.list()...)
		} else {
			all = append(all, m.entry)
		}
	}
	return all
}

// Clocked returns the generators under a worker number, by name.
func (s *Set) Clocked() map[string]uidstatus.Generator {
	all := map[string]uidstatus.Generator{}
	for _, m := range s.members {
		if m.clock != nil {
			all[m.name] = m.clock
		}
	}
	return all
}

// Counters returns the statistics of counters, by name, and of the tags that are open.
func (s *Set) Counters() map[string]segment.Stats {
	all := map[string]segment.Stats{}
	for i := range s.members { // the first one wins, as in Get
		m := s.members[len(s.members)-1-i]
		if m.tags != nil {
			maps.Copy(all, m.stats())
		}
	}
	for _, m := range s.members {
		if m.tags == nil && m.stats != nil {
			maps.Copy(all, m.stats())
		}
	}
	return all
}

// Close closes all generators at once, and gives back worker numbers and unused ranges
// as far as ctx allows. The error names each that could not be given back. Close is
// called once.
func (s *Set) Close(ctx context.Context) error {
	faults := make([]error, len(s.members))
	var closing sync.WaitGroup
	for i, m := range s.members {
		closing.Go(func() {
			for _, end := range m.ends {
				faults[i] = errors.Join(faults[i], end(ctx))
			}
		})
	}
	closing.Wait()
	return s.join(faults)
}

// join joins the faults of the members. A fault that several have, such as a store that
// is away, stands there once, with the names of all.
func (s *Set) join(faults []error) error {
	var (
		all   []error
		names = map[string]string{} // of generators, by the text of their fault
	)
	for i, fault := range faults {
		if fault == nil {
			continue
		}
		text, name := fault.Error(), strconv.Quote(s.members[i].name)
		if names[text] == "" {
			all, names[text] = append(all, fault), "generator "+name
		} else {
			names[text] += ", " + name
		}
	}
	for i, fault := range all {
		all[i] = fmt.Errorf("%s: %w", names[fault.Error()], fault)
	}
	return errors.Join(all...)
}

// newEntry returns an entry without a generator.
func newEntry(c *config.Config, base *config.Base) *catalog.Entry {
	ids := base.IDs
	if ids == 0 {
		ids = c.Limits.IDs
	}
	return &catalog.Entry{Name: base.Name, Kind: base.Kind, MaxIDs: ids, Instance: uuid.NewString()}
}
