package generators

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/uidringd/internal/config"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/uid"
)

const (
	startWait  = 10 * time.Second // Open waits no longer for a generator, once another is open
	startPause = 30 * time.Second // greatest pause between two attempts to start a generator
)

// Open opens the generators of a checked config, each on its own. It returns once each
// is open or has failed; after ten seconds, once one is open. ctx bounds all attempts.
func Open(ctx context.Context, c *config.Config, logger *slog.Logger) (*Set, error) {
	s := &Set{members: make([]*member, len(c.Generators)), byName: map[string]*member{}}
	ctx, s.stop = context.WithCancel(ctx)
	creating := map[string]*sync.WaitGroup{} // counters of a store, by its name
	for i := range c.Generators {
		g := &c.Generators[i]
		m := &member{Generator: g, logger: logger.With("generator", g.Name)}
		m.state.Store(&state{err: service.ErrStarting})
		s.members[i], s.byName[m.Name] = m, m
		if creating[m.Store] == nil {
			creating[m.Store] = new(sync.WaitGroup)
		}
		if m.Kind == "segment" {
			creating[m.Store].Add(1)
		}
	}
	tried := make(chan struct{}, len(s.members))
	for _, m := range s.members {
		s.starts.Go(func() {
			created := creating[m.Store]
			if m.Kind == "tags" {
				created.Wait() // others may create the table
			}
			s.start(ctx, m, c)
			if m.Kind == "segment" {
				created.Done()
			}
			tried <- struct{}{}
			s.keepStarting(ctx, m, c)
			if open := m.state.Load().tags; open != nil {
				open.keepAsking(ctx)
			}
		})
	}
	if err := s.await(ctx, tried); err != nil {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.Shutdown.Release)
		defer cancel()
		return nil, errors.Join(err, s.Close(closing))
	}
	return s, nil
}

// await waits until s can serve, or cannot.
func (s *Set) await(ctx context.Context, tried <-chan struct{}) error {
	patience := time.After(startWait)
	for left := len(s.members); left > 0; {
		select {
		case <-tried:
			left--
		case <-patience:
			patience = nil
		case <-ctx.Done():
			return ctx.Err()
		}
		if patience == nil && s.open() {
			return nil
		}
	}
	if s.open() {
		return nil
	}
	return s.join(s.faults())
}

// open reports whether a generator is open.
func (s *Set) open() bool { return slices.Contains(s.faults(), nil) }

func (s *Set) faults() []error {
	faults := make([]error, len(s.members))
	for i, m := range s.members {
		faults[i] = m.state.Load().err
	}
	return faults
}

func (s *Set) start(ctx context.Context, m *member, c *config.Config) {
	n := &state{set: s}
	if err := n.open(ctx, c, m.Generator, m.logger); err != nil {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.Shutdown.Release)
		defer cancel()
		n = &state{err: cli.Named(errors.Join(err, n.close(closing)), "uidringd")}
	}
	m.state.Store(n)
}

// keepStarting tries to open m until it is open or ctx ends.
func (s *Set) keepStarting(ctx context.Context, m *member, c *config.Config) {
	pause := backoff.NewExponentialBackOff()
	pause.MaxInterval = startPause
	for attempt := 1; ; attempt++ {
		err := m.state.Load().err
		switch {
		case err == nil && attempt > 1:
			m.logger.Info("the generator has started", "attempts", attempt)
			return
		case err == nil, ctx.Err() != nil:
			return
		case hopeless(err):
			m.logger.Error("the generator cannot start: calls to it fail until the server is restarted", "error", err)
			return
		}
		next := pause.NextBackOff()
		m.logger.Error("the generator has not started: calls to it fail", "attempts", attempt, "next", next, "error", err)
		select {
		case <-time.After(next):
			s.start(ctx, m, c)
		case <-ctx.Done():
			return
		}
	}
}

// hopeless reports whether a start fails again, however often it is tried. Each attempt
// may use up a worker number. A clock before the layout's epoch or after its end uses up none, and
// may be corrected, as may the layout that the store remembers.
func hopeless(err error) bool {
	for field := range invalid.Fields(err) {
		if field.Name == "Layout.Epoch" {
			return false
		}
	}
	return errors.Is(err, uid.ErrConfig)
}

// notStarted returns the Stats of a generator that is not open.
func (m *member) notStarted() uid.Stats {
	if m.Clocked() {
		layout := cmp.Or(m.Layout, bits.Fleet()) // that of a new store
		return uid.Stats{Clock: &uid.ClockStats{Layout: layout, LayoutEnd: layout.End(), Worker: -1, LeaseError: m.fault()}, LastError: m.fault()}
	}
	return uid.Stats{LastError: m.fault(), Loads: &uid.LoadStats{From: m.Store, Tag: m.Name}}
}

// fault returns why m is not open, nil if it is.
func (m *member) fault() error {
	if err := m.state.Load().err; err != nil {
		return fmt.Errorf("%w: %w", service.ErrNotStarted, err)
	}
	return nil
}
