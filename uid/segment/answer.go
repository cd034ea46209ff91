package segment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uidring/uidring/internal/deal"
	"github.com/uidring/uidring/uid"
)

// keepError is how long the loader keeps an error that the store answered, before it
// asks the store again.
const keepError = time.Minute

type load struct {
	*call[span]
	asked int64      // ids; 0 is the store's own step
	usage deal.Usage // when the load was sent
}

// startLoad calls Reserve. An answer that is no range, or not above the last range, is an
// error. Call startLoad with mu held.
func (l *loader) startLoad() {
	s := l.dealer.Stats()
	usage := deal.Usage{Now: time.Now(), Issued: s.Taken, Starved: s.Starved}
	asked, last := l.pace.Next(usage), l.last.end
	l.loads++
	l.load = &load{asked: asked, usage: usage}
	l.load.call = begin(l.ctx, l.config.LoadTimeout, "Store.Reserve", func(ctx context.Context) (span, error) {
		first, count, err := l.store.Reserve(ctx, l.tag, asked)
		switch end := first + count; {
		case err != nil:
			return span{}, err
		case first < 0 || count < 1 || end < 0:
			return span{}, fmt.Errorf("%w: %q in %s: Reserve returned %d ids from %d, want 1 or more, the first 0 or more",
				ErrUnusable, l.tag, l.store, count, first)
		case first < last:
			return span{}, fmt.Errorf("%w: %s answered for %q with %d to %d, and earlier with ids up to %d; raise the counter above every id in use",
				uid.ErrRewound, l.store, l.tag, first, end-1, last-1)
		default:
			return span{first, end}, nil
		}
	})
}

// accept takes the store's answer. Call it with mu held.
func (l *loader) accept(a *load) {
	l.took = a.took
	switch {
	case errors.Is(a.Err, ErrUsedUp):
		l.halve(a)
	case a.Err != nil:
		l.rewound = l.rewound || errors.Is(a.Err, uid.ErrRewound)
		l.refuse(a.Err)
	default:
		l.pace.Fetched(a.usage, a.asked, a.Value.end-a.Value.next)
		l.before, l.last = l.last, span{max(a.Value.next, 1), a.Value.end} // 0 is no id
		l.ready = l.last
		l.refused = nil
		l.pause.Reset()
	}
}

// halve halves what loads ask for at most, until a single id is too much.
func (l *loader) halve(a *load) {
	asked := a.asked
	if asked == 0 {
		asked = min(max(l.pace.Own, DefaultStep), l.pace.Most)
	}
	if asked == 1 {
		l.usedUp()
		return
	}
	l.pace.First, l.pace.Most = asked/2, asked/2
}

func (l *loader) usedUp() {
	l.ended.Store(true)
	l.failures++
	l.refused = fmt.Errorf("%w: %q in %s has no ids left up to %d", ErrUsedUp, l.tag, l.store, l.stripe.id(l.end-1))
}

// refuse records why there is no range, and when the store is asked again: after a minute
// if it has answered, or after a pause that grows. Call it with mu held.
func (l *loader) refuse(err error) {
	wait := keepError
	if l.refused = asLoadError(l.store, l.tag, err, 0); errors.Is(l.refused, uid.ErrUnavailable) {
		wait = l.pause.NextBackOff()
		l.refused = &LoadError{l.store.String(), l.tag, err, wait}
	}
	l.failures++
	l.until = time.Now().Add(wait)
	l.wake = time.AfterFunc(wait, l.dealer.Wake)
}

// giveUp returns why a call no longer waits for the load in flight. The end of the call's context
// is no failure of the store.
func (l *loader) giveUp(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &LoadError{l.store.String(), l.tag, err, 0}
	}
	defer l.report()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.tooEarly() {
		l.refuse(err)
	}
	return l.refused
}

// tooEarly reports whether it is too early to ask the store again. Call it with mu held.
func (l *loader) tooEarly() bool {
	return l.refused != nil && (l.ended.Load() || time.Now().Before(l.until))
}

// report logs when loads begin to fail and when they succeed again. It does not log
// a failure that New returns. Call it with nothing locked.
func (l *loader) report() {
	l.mu.Lock()
	refused, before := l.refused, l.reported
	if l.last == (span{}) {
		refused = nil
	}
	l.reported = refused
	l.mu.Unlock()
	log := l.config.Logger
	switch {
	case before == nil && refused != nil:
		l.journal.Add(func() {
			log.Warn("segment: cannot reserve ids", "store", l.store.String(), "tag", l.tag, "error", refused)
		})
	case before != nil && refused == nil:
		l.journal.Add(func() { log.Info("segment: reserving ids again", "store", l.store.String(), "tag", l.tag) })
	}
}

func (l *loader) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused
}
