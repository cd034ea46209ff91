// Package service serves a request of any protocol: it authenticates the caller,
// applies the limits, finds the generator and draws ids. Packages api and rpc translate
// between a protocol and this package.
//
// Each failure is an [*Error] with an HTTP status. It names the value and the accepted
// values, and has no secret and no text of a driver. The log has the cause.
package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"github.com/uidring/uidring/uid"
)

// Config holds who may draw, and the limits. The zero Config admits everyone.
type Config struct {
	Tokens      []Token // without any, and without ClientCerts, everyone may draw and is an operator
	ClientCerts bool    // admit the client certificates that the listener has verified, for operations too
	Limits
	Logger *slog.Logger // for causes of failures, one a second at most; nil is slog.Default
}

// Limits bound what callers may draw. Package config explains them.
type Limits struct {
	IDs      int           `yaml:"ids" range:"1 to 1000000"`               // of one request, unless a generator has its own; 0 is DefaultIDs; an answer of a million has 20 MB
	RunIDs   int           `yaml:"run_ids" range:"1 to 16777216"`          // of one request that is answered in runs, of a counter that has no limits in its config; 0 is DefaultRunIDs; uidclient asks for 2^24 at most
	Requests float64       `yaml:"requests_per_s" range:"0 to 1000000000"` // of one caller in the long run; 0 is no limit
	Burst    int           `yaml:"burst" range:"0 to 1000000000"`          // of one caller at once; 0 is the requests of one second
	Waiting  int           `yaml:"waiting" range:"1 to 1000000"`           // requests that wait for ids at once, an equal share of each generator; 0 is DefaultWaiting
	Wait     time.Duration `yaml:"wait"`                                   // that a request waits for ids; 0 is DefaultWait
}

// Defaults of [Limits].
const (
	DefaultIDs     = 10_000
	DefaultRunIDs  = 1_000_000
	DefaultWaiting = 1024
	DefaultWait    = 2 * time.Second
)

// Service draws ids for callers. Its methods may be called from any number of
// goroutines.
type Service struct {
	config   Config // with all defaults
	catalog  Catalog
	requests *limiters                     // of callers; nil without a limit
	wrong    *limiters                     // of wrong tokens, by address
	used     *lru.Cache[tokenOf, struct{}] // right tokens
	waiting  []queue                       // by source
	drawn    sync.Map                      // of *limiters of callers' ids, by *Entry
	seldom   rate.Sometimes                // logs
}

// New returns a service. The values are those of a checked config.
func New(c Catalog, config Config) *Service {
	config.Wait = cmp.Or(config.Wait, DefaultWait)
	config.IDs = cmp.Or(config.IDs, DefaultIDs)
	config.RunIDs = cmp.Or(config.RunIDs, DefaultRunIDs)
	config.Waiting = cmp.Or(config.Waiting, DefaultWaiting)
	config.Logger = cmp.Or(config.Logger, slog.Default())
	s := &Service{config: config, catalog: c, seldom: rate.Sometimes{Interval: time.Second}}
	s.wrong = newLimiters(wrongPerSecond, wrongBurst, "wrong tokens")
	s.used, _ = lru.New[tokenOf, struct{}](mostCallers) // fails for a size below 1 only
	if config.Requests > 0 {
		s.requests = newLimiters(config.Requests, cmp.Or(config.Burst, max(1, int(config.Requests))), "requests")
	}
	_, sources := c.Source("")
	s.waiting = make([]queue, max(1, sources))
	for i := range s.waiting {
		s.waiting[i].most = int64(max(1, config.Waiting/len(s.waiting)))
	}
	return s
}

// Find returns the generator of a name, for a caller that may draw n ids from it.
func (s *Service) Find(ctx context.Context, caller Caller, name string, n int) (*Entry, error) {
	d, err := s.draw(ctx, caller, name, func(e *Entry) (int, error) { return 0, allow(name, n, s.most(e)) })
	if err != nil {
		return nil, err
	}
	defer d.Done()
	return d.Entry, nil
}

// Draw draws n ids of the named generator. Call [Drawn.Done] at the end. If Draw cannot
// draw all n within Config.Wait, the error is an [*Error], and the drawn ids are a gap.
// Draw counts n ids of the caller, also if it fails then, and refuses more than the
// entry's Rate and Burst with an error of kind [TooManyRequests].
func (s *Service) Draw(ctx context.Context, caller Caller, name string, n int) (*Drawn, error) {
	return s.draw(ctx, caller, name, s.exactly(caller, name, n, s.most))
}

// DrawRuns is Draw for an answer in runs: of a counter, it draws up to Config.RunIDs ids.
func (s *Service) DrawRuns(ctx context.Context, caller Caller, name string, n int) (*Drawn, error) {
	return s.draw(ctx, caller, name, s.exactly(caller, name, n, s.mostInRuns))
}

// DrawEach draws one id for each of up to n requests: for as many as the limits of the caller and
// of one answer let pass now, and at least for one. It counts them as requests, as Count does, and
// their ids as Draw does. Errors are those of Count and Draw, for all n.
func (s *Service) DrawEach(ctx context.Context, caller Caller, name string, n int) (*Drawn, error) {
	return s.draw(ctx, caller, name, func(e *Entry) (int, error) { return s.upTo(caller, e, n) })
}

// draw finds a generator, and draws as many ids as allow says. Only a request that waits, for ids or
// for the generator, queues for its source.
func (s *Service) draw(ctx context.Context, caller Caller, name string, allow func(*Entry) (int, error)) (*Drawn, error) {
	if !caller.May(name) {
		return nil, &Error{Kind: Forbidden, Detail: fmt.Sprintf("the token is not for generator %q", name)}
	}
	d, n := pool.Get().(*Drawn), 0
	found := func(e *Entry, err error) error {
		if err == nil {
			d.Entry = e
			n, err = allow(e)
		}
		return err
	}
	err := found(s.catalog.Get(name))
	if err == nil {
		err = d.draw(int64(n), d.Entry.TryClaim)
	}
	if errors.Is(err, uid.ErrNotReady) {
		source, _ := s.catalog.Source(name)
		err = s.waiting[source].wait(ctx, name, s.config.Wait, func(ctx context.Context) error {
			if d.Entry == nil {
				if err := found(s.catalog.Open(ctx, name)); err != nil {
					return err
				}
			}
			return d.draw(int64(n), func(limit int64) (uid.Run, error) { return d.Entry.Claim(ctx, limit) })
		})
	}
	if err != nil {
		entry := d.Entry
		d.Done()
		return nil, s.explain(name, entry, err)
	}
	return d, nil
}

// exactly returns what allows n ids, and counts them.
func (s *Service) exactly(caller Caller, name string, n int, most func(*Entry) int) func(*Entry) (int, error) {
	return func(e *Entry) (int, error) {
		if err := allow(name, n, most(e)); err != nil || e.Rate <= 0 {
			return n, err
		}
		return n, s.limitersOf(e).take(caller.key, n)
	}
}

// upTo allows n requests of an id, or as many as pass now, and counts them.
func (s *Service) upTo(caller Caller, e *Entry, n int) (int, error) {
	limits := make([]*limiters, 0, 2)
	if s.requests != nil {
		limits = append(limits, s.requests)
	}
	if e.Rate > 0 {
		limits = append(limits, s.limitersOf(e))
	}
	pass := min(n, s.most(e))
	for _, l := range limits {
		pass = min(pass, int(l.get(caller.key).Tokens()))
	}
	pass = max(pass, 1)
	for _, l := range limits {
		if err := l.take(caller.key, pass); err != nil {
			return 0, err
		}
	}
	return pass, nil
}

// allow refuses a request for fewer ids than one, or for more than most.
func allow(name string, n, most int) error {
	if n < 1 || n > most {
		return Invalid("n is %d, want 1 to %d for %q", n, most, name)
	}
	return nil
}

func (s *Service) limitersOf(e *Entry) *limiters {
	l, found := s.drawn.Load(e)
	if !found {
		l, _ = s.drawn.LoadOrStore(e, newLimiters(e.Rate, max(e.Burst, s.most(e)), fmt.Sprintf("ids of %q", e.Name)))
	}
	return l.(*limiters)
}

func (s *Service) most(e *Entry) int { return cmp.Or(e.MaxIDs, s.config.IDs) }

// mostInRuns returns how many ids a request may ask e for if the answer has runs.
func (s *Service) mostInRuns(e *Entry) int {
	if counter := e.Layout == nil; counter && e.MaxIDs == 0 && e.Rate == 0 {
		return max(s.config.RunIDs, s.config.IDs)
	}
	return s.most(e)
}

// queue counts the requests that wait for a source.
type queue struct {
	most  int64
	taken atomic.Int64
}

var errQueue = errors.New("more requests are waiting for the generator than its share of limits.waiting")

// wait calls f, which may wait on its context for limit. If the queue is full, wait fails at once.
func (q *queue) wait(ctx context.Context, name string, limit time.Duration, f func(context.Context) error) error {
	defer q.taken.Add(-1)
	if q.taken.Add(1) > q.most {
		return &Error{
			Kind:   Unavailable,
			Detail: fmt.Sprintf("%d requests wait for ids of generator %q already", q.most, name),
			Retry:  time.Second,
			Cause:  errQueue,
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errWait)
	defer cancel()
	err := f(ctx)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errWait) && errors.Is(err, ctx.Err()) {
		return Ended(cause)
	}
	return err
}
