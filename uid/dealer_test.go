package uid_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/deal"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/padding"
	"github.com/uidring/uidring/ringbuffer"
	"github.com/uidring/uidring/uid"
)

// counting is a source of runs of 4 ids from 1 on. It takes its time for each; for
// ever if that is negative.
type counting struct {
	next  int64
	each  atomic.Int64
	fails atomic.Pointer[error]
	asked atomic.Int64
}

func (c *counting) source(ctx context.Context) (ringbuffer.Run, error) {
	c.asked.Add(1)
	if err := c.fails.Load(); err != nil {
		return ringbuffer.Run{}, *err
	}
	if each := time.Duration(c.each.Load()); each != 0 {
		var done <-chan time.Time
		if each > 0 {
			done = time.After(each)
		}
		select {
		case <-done:
		case <-ctx.Done():
			return ringbuffer.Run{}, ctx.Err()
		}
	}
	run := ringbuffer.Run{First: c.next*4 + 1, N: 4}
	c.next++
	return run, nil
}

func (c *counting) fail(err error) { c.fails.Store(&err) }

// dealer is a generator of the ids of a source, as segment.Counter is.
type dealer struct {
	deal.Claims[uid.ID, uid.Run]
	engine *deal.Dealer
}

func (d dealer) Next() (uid.ID, error) {
	id, err := d.engine.Ring().Take()
	return uid.ID(id), err
}

func (d dealer) Close() error { return d.engine.Close() }

func (d dealer) Shutdown(ctx context.Context) error { return d.engine.Shutdown(ctx) }

func (d dealer) Stats() uid.Stats {
	s := d.engine.Stats()
	return uid.Stats{Issued: s.Taken, Starved: s.Starved, RejectedTakes: s.Rejected, Waited: s.Waited, LastError: s.LastError}
}

func newDealer(t *testing.T, source padding.Source, config deal.Config) dealer {
	t.Helper()
	config.Runs, config.RunLen = 4, 4
	if config.PaddingFactor == 0 {
		config.PaddingFactor = 50
	}
	if config.Policy == nil {
		config.Policy = deal.PolicyOf("uid", nil, uid.PolicyHelp)
	}
	d, err := deal.New(source, config)
	return dealer{deal.ClaimsOf[uid.ID, uid.Run](opened(t, d, err)), d}
}

// started starts a dealer, whose ring is full then.
func started(t *testing.T, source padding.Source, config deal.Config) dealer {
	t.Helper()
	d := newDealer(t, source, config)
	need.Must(t, d.engine.Start(t.Context(), nil))
	return d
}

// drain takes n ids, which are ready.
func drain(t *testing.T, d dealer, n int) {
	t.Helper()
	if got, err := d.NextN(make([]uid.ID, n)); got != n || err != nil {
		t.Fatalf("NextN() = %d, %v, want %d", got, err, n)
	}
}

// What calls, Stats and Close do while a source takes 50 ms, 5 s, or for ever.
func TestSlowSource(t *testing.T) {
	const never = -1
	for _, each := range []time.Duration{50 * time.Millisecond, 5 * time.Second, never} {
		for name, refuse := range map[string]uid.TakePolicy{"help": uid.PolicyHelp, "reject": uid.PolicyReject, "wait": uid.PolicyWait} {
			for call, draw := range calls {
				synctest.Test(t, func(t *testing.T) {
					c := new(counting)
					d := started(t, c.source, deal.Config{Policy: deal.PolicyOf("uid", refuse, uid.PolicyHelp), Padding: padding.Config{Blocking: true}})
					synctest.Wait()
					c.each.Store(int64(each))
					drain(t, d, 16)
					synctest.Wait() // the source is asked
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					begun := time.Now()
					time.AfterFunc(time.Hour, func() { d.Close() })
					_, err := draw(ctx, d, make([]uid.ID, 1))
					took := time.Since(begun)
					waits := strings.HasPrefix(call, "Wait") || call == "All"
					want, lasts := error(nil), each // until the run is made
					switch {
					case name == "reject" && !waits:
						want, lasts = uid.ErrNotReady, 0
					case each == never && waits:
						want, lasts = context.DeadlineExceeded, time.Minute
					case each == never:
						want, lasts = uid.ErrClosed, time.Hour
					}
					if !errors.Is(err, want) || took != lasts {
						t.Errorf("%v, %s: %s: %v after %v, want %v after %v", each, name, call, err, took, want, lasts)
					}
					if want == context.DeadlineExceeded && !strings.HasPrefix(err.Error(), "uid: wait for an id: ") {
						t.Errorf("%v, %s: %s: error %v does not say what was waited for", each, name, call, err)
					}
					began := time.Now()
					s := d.Stats()
					if s.Starved != 1 || (s.RejectedTakes == 0) != (err == nil) || s.Waited != took || s.Issued != d.engine.Ring().Counts().Taken {
						t.Errorf("%v, %s: %s: Stats() = %+v", each, name, call, s)
					}
					if err := d.Close(); err != nil || time.Since(began) != 0 {
						t.Errorf("%v, %s: Close() = %v after %v, want nil at once", each, name, err, time.Since(began))
					}
				})
			}
		}
	}
}

// A source that ignores its context holds up Close for CloseTimeout. A Close after it has returned succeeds.
func TestSourceThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := new(counting)
		goOn := make(chan struct{})
		var hang atomic.Bool
		d := started(t, func(ctx context.Context) (ringbuffer.Run, error) {
			if hang.Load() {
				<-goOn
			}
			return c.source(ctx)
		}, deal.Config{Padding: padding.Config{Blocking: true}})
		synctest.Wait()
		hang.Store(true)
		drain(t, d, 16)
		synctest.Wait()
		begun := time.Now()
		if err := d.Close(); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != uid.CloseTimeout {
			t.Errorf("Close() = %v after %v, want DeadlineExceeded after 5s", err, time.Since(begun))
		}
		close(goOn)
		synctest.Wait()
		if err := d.Close(); err != nil || d.engine.Ring().Remaining() != 0 {
			t.Errorf("Close() = %v once the source has returned, with %+v", err, d.engine.Ring().Counts())
		}
	})
}

// later is an error that says when to try again.
type later time.Duration

func (l later) Error() string             { return "later" }
func (l later) RetryAfter() time.Duration { return time.Duration(l) }

// A delay of the source is the error of a call whose policy does not wait. A call that
// waits sleeps for the delay, or until Wake. After a delay of unknown length, the source is
// asked again each second, and not all the time.
func TestSourceThatDelays(t *testing.T) {
	for _, blocking := range []bool{false, true} {
		for _, test := range []struct {
			delay, back, want time.Duration // back is when the source can make runs again
			wake              bool
		}{
			{time.Hour, 90 * time.Millisecond, 90 * time.Millisecond, true},
			{70 * time.Millisecond, time.Millisecond, 70 * time.Millisecond, false},
			{0, 3500 * time.Millisecond, 4 * time.Second, false},
		} {
			synctest.Test(t, func(t *testing.T) {
				c := new(counting)
				d := started(t, c.source, deal.Config{Padding: padding.Config{Blocking: blocking}})
				c.fail(later(test.delay))
				if n, err := d.NextN(make([]uid.ID, 17)); n != 16 || !errors.Is(err, later(test.delay)) {
					t.Errorf("NextN() = %d, %v, want 16 and the source's error", n, err)
				}
				begun, before, starved := time.Now(), c.asked.Load(), d.Stats().Starved
				time.AfterFunc(test.back, func() {
					if c.fails.Store(nil); test.wake {
						d.engine.Wake()
					}
				})
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if id, err := d.Wait(ctx); id != 17 || err != nil || time.Since(begun) != test.want {
					t.Errorf("%+v: Wait() = %d, %v after %v, want 17", test, id, err, time.Since(begun))
				}
				synctest.Wait()
				if n := c.asked.Load() - before; n > 14 {
					t.Errorf("%+v: the source was asked %d times, want about once for each delay and each run", test, n)
				}
				if s := d.Stats(); s.Starved != starved+1 || s.RejectedTakes != 1 || d.engine.Ring().Remaining() < 12 {
					t.Errorf("%+v: Stats() = %+v, want one more call that starved, however often it tried, and a full ring", test, s)
				}
			})
		}
	}
}
