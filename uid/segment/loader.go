package segment

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/uidring/uidring/internal/deal"
	"github.com/uidring/uidring/internal/logqueue"
	"github.com/uidring/uidring/ringbuffer"
	"github.com/uidring/uidring/uid"
)

const (
	runs   = 8       // that the ring holds
	runLen = MaxStep // ids that a run has at most
)

// A span is the ids from next up to but not including end.
type span struct{ next, end int64 }

func (s span) empty() bool { return s.next >= s.end }

func (s span) run() uid.Run { return uid.Run{First: uid.ID(s.next), N: s.end - s.next} }

// loader is the source of a generator's runs. It puts each range into the ring in
// two runs or more. The first run ends where LoadAt of the range is used, and the
// ring signals whenever it begins to deal a run. So the executor calls the loader at
// that point.
//
// load is nil, or under way, or has an answer that is not accepted yet.
// ready is the accepted range that follows. The loader sends a request only if both
// are empty. So there is never more than one, and no answer gets lost.
type loader struct {
	store   Store
	tag     string
	config  Config
	stripe  stripe
	end     int64 // all ids of the counter are below it
	ctx     context.Context
	cancel  func()
	dealer  *deal.Dealer // set before the dealer is started
	journal logqueue.Queue
	ended   atomic.Bool // there will never be another id; written by the source, read by takers

	mu      sync.Mutex // never held during I/O, nor by a taker
	load    *load
	ready   span
	rest    span  // the part of the range before ready that is not in the ring yet
	turn    int64 // where that range's second run begins
	last    span  // loaded last, whole
	before  span  // loaded before last, whole
	pace    deal.Pace
	rewound bool // the store has gone back
	closed  bool

	refused  error     // why no load starts before until, or ever once ended; nil after a load that succeeded
	until    time.Time // when the store is asked again
	wake     *time.Timer
	pause    *backoff.ExponentialBackOff
	reported error // refused, as it was logged

	loads, failures, returned int64         // for Stats
	took                      time.Duration // of the last load
}

func newLoader(store Store, tag string, stripe stripe, config Config) *loader {
	l := &loader{
		store: store, tag: tag, config: config,
		stripe: stripe, end: stripe.end(config.Limit),
		pace: deal.Pace{
			First: config.Step, Least: config.MinStep, Most: config.MaxStep, Ahead: config.Ahead,
		},
	}
	l.pause = backoff.NewExponentialBackOff()
	l.pause.InitialInterval, l.pause.MaxInterval = 100*time.Millisecond, 10*time.Second
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

func (l *loader) logStart(kind string) {
	l.mu.Lock()
	first := l.last
	if l.before != (span{}) {
		first = l.before
	}
	l.mu.Unlock()
	l.journal.Add(func() {
		l.config.Logger.Info("segment: started", "kind", kind, "tag", l.tag, "store", l.store.String(), "first", first.next, "end", first.end)
	})
}

func (l *loader) next(ctx context.Context) (ringbuffer.Run, error) {
	for {
		run, load, err := l.advance()
		l.report()
		if err != nil || load == nil {
			return run, err
		}
		if err := load.wait(ctx); err != nil {
			return ringbuffer.Run{}, l.giveUp(ctx, err)
		}
	}
}

// advance returns a run for the ring, or a load to wait for, or an error if there is
// neither. It returns none of them if no load is due. It starts a load that is due
// even if it returns a run.
func (l *loader) advance() (ringbuffer.Run, *load, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ringbuffer.Run{}, nil, ringbuffer.ErrClosed
	}
	if l.load != nil && l.load.Done() {
		answer := l.load
		l.load = nil
		l.accept(answer)
	}
	run := l.cut()
	if run.N == 0 && !l.ready.empty() {
		l.openRange()
		run = l.cut()
	}
	err := l.loadIfDue(run.N)
	if run.N > 0 {
		return run, nil, nil
	}
	return run, l.load, err
}

// loadIfDue starts a load if one is due, or returns why it does not start a load that is
// due. cut is how many ids are on their way to the ring.
func (l *loader) loadIfDue(cut int64) error {
	switch {
	case l.load != nil || !l.ready.empty() || !l.due(cut):
		return nil
	case l.tooEarly():
		return l.refused
	case l.last.end >= l.end:
		l.usedUp()
		return l.refused
	}
	l.startLoad()
	return nil
}

func (l *loader) openRange() {
	l.rest, l.ready = l.ready, span{}
	n := l.left(l.rest)
	at := int64(l.config.LoadAt)
	l.turn = l.rest.next + max(1, n/100*at+n%100*at/100)
}

// cut returns the next run of the range that is begun, or an empty run if the ring has
// the whole range.
func (l *loader) cut() ringbuffer.Run {
	n := min(l.left(l.rest), l.stripe.blockLeft(l.rest.next), runLen)
	if l.rest.next < l.turn {
		n = min(n, l.turn-l.rest.next)
	}
	if n == 0 {
		return ringbuffer.Run{}
	}
	run := ringbuffer.Run{First: l.stripe.id(l.rest.next), N: n}
	l.rest.next += n
	return run
}

// uncut takes back a run that the ring refused because it was closed.
func (l *loader) uncut(run ringbuffer.Run, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if first := l.stripe.count(run.First); errors.Is(why, ringbuffer.ErrClosed) && first+run.N == l.rest.next {
		l.rest.next = first
	}
}

// due reports whether the range that is begun is used as far as LoadAt. A ring that was
// closed has no ids either, and needs none.
func (l *loader) due(cut int64) bool {
	left := l.dealer.Ring().Remaining() + cut + l.left(l.rest)
	return left <= l.left(span{l.turn, l.rest.end}) && !l.dealer.Stats().Closed
}

// left returns how many ids of s may be issued.
func (l *loader) left(s span) int64 { return max(0, min(s.end, l.end)-s.next) }
