// Package service serves a request of any protocol: it authenticates the caller,
// applies the limits, finds the generator and draws ids. Packages api and rpc translate
// between a protocol and this package.
//
// Each failure is an [*Error] with an HTTP status. It names the value and the accepted
// values, and has no secret and no text of a driver. The log has the cause.
package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/time/rate"

	"github.com/uidring/uidring/cmd/uidringd/catalog"
	"github.com/uidring/uidring/uid"
)

// Config holds who may draw, and the limits. The zero Config admits everyone.
type Config struct {
	// Tokens and ClientCerts say who may draw. Without both, everyone may.
	Tokens []Token

	// ClientCerts makes a verified client certificate valid for every generator. The
	// listener verifies it (tls.VerifyClientCertIfGiven or stricter).
	ClientCerts bool

	// Rate is how many requests a second a caller may make in the long run, and
	// Burst how many at once. A Rate of 0 is no limit; a Burst of 0 is one second's
	// requests. A caller is a token, a client certificate, or the address of an
	// anonymous client (its /64 in IPv6). Headers of proxies are not believed.
	Rate  float64
	Burst int

	// Waiting is how many requests wait for ids at once, at most; 0 is
	// [DefaultWaiting]. A request that finds its ids ready does not wait: a generator
	// whose store hangs keeps no ids of another from their callers.
	Waiting int

	// Wait is how long a request waits for ids, at most; 0 is [DefaultWait].
	Wait time.Duration

	// Logger gets the causes of failures, one a second at most; nil is
	// [slog.Default].
	Logger *slog.Logger
}

// Defaults of a [Config].
const (
	DefaultWaiting = 1024
	DefaultWait    = 2 * time.Second
)

// Service draws ids for callers. Its methods may be called from any number of
// goroutines.
type Service struct {
	catalog catalog.Catalog
	guard   *guard
	waiting places
	wait    time.Duration
	log     *slog.Logger
	seldom  rate.Sometimes
}

// New returns a service, or an error that names every fault of the config.
func New(c catalog.Catalog, config Config) (*Service, error) {
	var faults []error
	if config.Waiting < 0 {
		faults = append(faults, fmt.Errorf("service: Waiting is %d, want 1 or more, or 0 for %d", config.Waiting, DefaultWaiting))
	}
	if config.Wait < 0 {
		faults = append(faults, fmt.Errorf("service: Wait is %v, want more than 0, or 0 for %v", config.Wait, DefaultWait))
	}
	guard, err := newGuard(config)
	if err := errors.Join(append(faults, err)...); err != nil {
		return nil, err
	}
	s := &Service{catalog: c, guard: guard, wait: config.Wait, log: config.Logger, seldom: rate.Sometimes{Interval: time.Second}}
	if s.wait == 0 {
		s.wait = DefaultWait
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	if config.Waiting == 0 {
		config.Waiting = DefaultWaiting
	}
	s.waiting.most = int64(config.Waiting)
	return s, nil
}

// Find returns the generator of a name, for a caller that may draw n ids from it.
func (s *Service) Find(ctx context.Context, caller Caller, name string, n int) (*catalog.Entry, error) {
	var entry *catalog.Entry
	err := s.within(ctx, caller, name, n, func(_ context.Context, e *catalog.Entry) error {
		entry = e
		return nil
	})
	return entry, err
}

// Draw draws n ids of the named generator. Call [Drawn.Done] at the end. If Draw cannot
// draw all n within Config.Wait, the error is an [*Error], and the drawn ids are a gap.
func (s *Service) Draw(ctx context.Context, caller Caller, name string, n int) (*Drawn, error) {
	d := pool.Get().(*Drawn)
	err := s.within(ctx, caller, name, n, func(ctx context.Context, e *catalog.Entry) error {
		d.Entry = e
		return d.draw(ctx, n)
	})
	if err != nil {
		d.Done()
		return nil, err
	}
	return d, nil
}

// within calls f with the named generator, if a request may have n ids of it. f may wait
// on its context, as long as the limits allow. within calls f once more if the generator
// was closed meanwhile, as the counter of an idle tag is.
func (s *Service) within(ctx context.Context, caller Caller, name string, n int, f func(context.Context, *catalog.Entry) error) error {
	if !caller.may(name) {
		return &Error{Kind: Forbidden, Detail: fmt.Sprintf("the token is not for generator %q", name)}
	}
	bounded := &patience{Context: ctx, limit: s.wait, places: &s.waiting}
	defer bounded.end()
	try := func() error {
		entry, err := s.catalog.Get(bounded, name)
		switch {
		case err != nil:
			return err
		case n < 1 || n > entry.MaxIDs:
			return Invalid("n is %d, want 1 to %d for %q", n, entry.MaxIDs, name)
		}
		return f(bounded, entry)
	}
	err := try()
	if errors.Is(err, uid.ErrClosed) {
		err = try()
	}
	switch {
	case err == nil:
		return nil
	case bounded.full.Load() && errors.Is(err, context.Canceled):
		return &Error{Kind: Unavailable, Detail: fmt.Sprintf("%d requests wait for ids already", s.waiting.most), Retry: time.Second}
	}
	return s.explain(name, err)
}
