package segment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// again is how long the loader keeps an error that the store answered, before it
// asks the store again.
const again = time.Minute

// failing is the part of a loader that records why loads fail.
type failing struct {
	pause    *backoff.ExponentialBackOff
	refused  error // why no load starts before until, or ever if until is zero; nil after a load that succeeded
	until    time.Time
	wake     *time.Timer
	reported error // refused, as it was logged
}

// accept takes the store's answer. Call it with mu held.
func (l *loader) accept(a *load) {
	l.took = a.took
	first, end := a.first, a.first+a.count
	switch {
	case errors.Is(a.err, ErrUsedUp):
		l.fewer(a)
		return
	case isAny(a.err, ErrUnknownTag, ErrUnusable, ErrStripe, ErrConfig):
		l.refuse(a.err, again)
		return
	case errors.Is(a.err, ErrRewound): // the store itself noticed
		l.rewound = true
		l.refuse(a.err, again)
		return
	case a.err != nil:
		l.failed(a.err)
		return
	case first < l.last.end:
		l.rewound = true
		l.refuse(fmt.Errorf("%w: %s answered for %q with %d to %d, and earlier with ids up to %d",
			ErrRewound, l.store, l.tag, first, end-1, l.last.end-1), again)
		return
	}
	first = max(first, 1) // 0 is no id
	l.before, l.last, l.ready = l.last, span{first, end}, span{first, end}
	l.pace.Fetched(a.usage, a.asked, a.count)
	l.refused = nil
	l.pause.Reset()
}

// fewer halves what the next load asks for, until a single id is too much.
func (l *loader) fewer(a *load) {
	asked := a.asked
	if asked == 0 {
		asked = max(l.pace.Own, DefaultStep)
	}
	if asked == 1 {
		l.usedUp()
		return
	}
	l.most = asked / 2
}

func (l *loader) usedUp() {
	l.ended.Store(true)
	l.refuse(fmt.Errorf("%w: %q in %s has no id up to %d left", ErrUsedUp, l.tag, l.store, l.stripe.id(l.end-1)), 0)
}

// refuse records an error that prevents loads for wait, or for ever if wait is 0.
func (l *loader) refuse(err error, wait time.Duration) {
	l.failures++
	l.refused, l.until = err, time.Time{}
	if wait > 0 {
		l.until = time.Now().Add(wait)
		l.wake = time.AfterFunc(wait, l.dealer.Wake)
	}
}

// failed records that the store did not answer.
func (l *loader) failed(err error) {
	retry := l.pause.NextBackOff()
	l.refuse(l.unavailable(err, retry), retry)
}

func (l *loader) unavailable(err error, retry time.Duration) error {
	return &LoadError{l.store.String(), l.tag, err, retry}
}

// unanswered returns why the loader no longer waits for a load that is under way.
// The end of the caller's context is no failure of the store.
func (l *loader) unanswered(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return l.unavailable(err, 0)
	}
	defer l.report()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed(err)
	return l.refused
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
			log.Warn("segment: no ids are reserved", "store", l.store.String(), "tag", l.tag, "error", refused)
		})
	case before != nil && refused == nil:
		l.journal.Add(func() { log.Info("segment: ids are reserved again", "store", l.store.String(), "tag", l.tag) })
	}
}

// why returns why no range can be loaded, or nil.
func (l *loader) why() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused
}
