package workerkube

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/uidring/uidring/worker/lease/leasestore"
)

// limit is QPS and Burst of a rest.Config. A method of a Store waits once for all its requests:
// a wait between two of them could make the first vain. A nil limit limits nothing.
type limit struct {
	rate *rate.Limiter

	mu      sync.Mutex
	due     []time.Time // of starts: when each has been paid for, the next first
	granted int         // starts that have been paid for and have not written
}

// limitOf takes the limit out of a config. A RateLimiter of the caller limits each request.
func limitOf(c *rest.Config) *limit {
	if c.RateLimiter != nil {
		c.RateLimiter = limiter{c.RateLimiter}
	}
	if c.RateLimiter != nil || c.QPS < 0 {
		return nil
	}
	l := &limit{rate: rate.NewLimiter(rate.Limit(cmp.Or(c.QPS, rest.DefaultQPS)), cmp.Or(c.Burst, rest.DefaultBurst))}
	c.QPS = -1
	return l
}

// pay waits until n requests are allowed, or fails if ctx does not leave enough time.
func (l *limit) pay(ctx context.Context, n int) error {
	if l == nil {
		return ctx.Err()
	}
	waiting, cancel := context.WithDeadline(ctx, latest(ctx))
	defer cancel()
	return throttled(ctx, l.rate.WaitN(waiting, min(n, l.rate.Burst())))
}

// latest is when to stop waiting: half of the time is for the requests.
func latest(ctx context.Context) time.Time {
	end, ok := ctx.Deadline()
	if !ok {
		end = time.Now().Add(time.Minute)
	}
	return time.Now().Add(time.Until(end) / 2)
}

// The requests of a start, two of which compare the layout, and how many starts pay ahead.
const perStart, ahead = 7, 3

// payStart is pay for a start. It pays ahead: when a start that failed tries again, it finds what
// was paid meanwhile. So holders that renew do not keep others from starting.
func (l *limit) payStart(ctx context.Context) error {
	if l == nil {
		return ctx.Err()
	}
	l.mu.Lock()
	now := time.Now()
	if len(l.due) < ahead {
		l.due = append(l.due, now.Add(l.reserve(now, perStart)))
	}
	next := l.due[0]
	early := next.After(latest(ctx))
	if !early {
		l.due = l.due[1:]
		l.granted++
	}
	l.mu.Unlock()
	if early {
		return throttled(ctx, fmt.Errorf("the next start is allowed in %v", next.Sub(now)))
	}
	select {
	case <-ctx.Done():
	case <-time.After(next.Sub(now)):
	}
	return ctx.Err()
}

// reserve pays for n requests, and returns when they are allowed.
func (l *limit) reserve(now time.Time, n int) (delay time.Duration) {
	for most := max(l.rate.Burst(), 1); n > 0; n -= most {
		delay = l.rate.ReserveN(now, min(n, most)).DelayFrom(now)
	}
	return delay
}

// spend reports whether payStart has paid for the write of a start that has not written yet.
func (l *limit) spend() bool {
	if l == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.granted == 0 {
		return false
	}
	l.granted--
	return true
}

type limiter struct{ flowcontrol.RateLimiter }

func (l limiter) Wait(ctx context.Context) error { return throttled(ctx, l.RateLimiter.Wait(ctx)) }

func throttled(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return leasestore.Throttled(fmt.Errorf("workerkube: QPS and Burst of the rest.Config allow no request in time: %w", err))
}
