package segment_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

// While the store is unavailable, ids go on to the end of what is loaded. Then calls fail
// with the store's error. The store is asked less and less often.
func TestStoreUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(counter)
		g := open(t, store, segment.Config{Step: 100, MaxStep: 100})
		take(t, g, 1, 50)
		synctest.Wait()
		store.unavailable.Store(true)
		take(t, g, 51, 150)
		_, err := g.Next()
		unavailable := (*segment.LoadError)(nil)
		if !errors.As(err, &unavailable) || !errors.Is(err, uid.ErrUnavailable) || !errors.Is(err, errUnavailable) ||
			errors.Is(err, segment.ErrUnknownTag) || errors.Is(err, segment.ErrUsedUp) || unavailable.Tag != "orders" {
			t.Errorf("Next() = %v, want a LoadError that wraps the store's", err)
		}
		before := store.requests.Load()
		for range 3600 {
			_, _ = g.Next()
			time.Sleep(time.Second)
		}
		if asked := store.requests.Load() - before; asked < 100 || asked > 1000 {
			t.Errorf("%d requests in an hour's outage, want one in about 10 s", asked)
		}
		if s := g.Stats(); s.LastError == nil || s.Loads.Failures < 100 || s.RejectedTakes == 0 {
			t.Errorf("Stats() = %+v", s)
		}
		store.unavailable.Store(false)
		began := time.Now()
		if id, err := g.Wait(t.Context()); id != 201 || err != nil || time.Since(began) > 20*time.Second {
			t.Errorf("Wait() = %d, %v after %v, want 201", id, err, time.Since(began))
		}
		if s := g.Stats(); s.LastError != nil {
			t.Errorf("Stats().LastError is %v once the store is back", s.LastError)
		}
		// The next outage begins with short pauses again.
		time.Sleep(time.Second)
		store.unavailable.Store(true)
		var next *segment.LoadError
		for err = nil; err == nil; {
			_, err = g.Next()
		}
		if !errors.As(err, &next) || next.Retry > 500*time.Millisecond {
			t.Errorf("Next() = %v, with a pause of %v, want a short one", err, next.Retry)
		}
	})
}

// A store hangs beyond the end of a request's context: calls fail after the time-out, nothing is
// asked twice at once, and a late answer is used.
func TestStoreHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(counter)
		g := open(t, store, segment.Config{Step: 100, MaxStep: 100})
		synctest.Wait()
		store.takes.Store(int64(30 * time.Minute))
		store.deaf.Store(true)
		take(t, g, 1, 100)
		began := time.Now()
		if _, err := g.Next(); !errors.Is(err, uid.ErrUnavailable) || time.Since(began) > 7*time.Second || g.Stats().Loads.Loading == 0 {
			t.Errorf("Next() = %v after %v, want uid.ErrUnavailable after the time-out", err, time.Since(began))
		}
		if id, err := g.Wait(t.Context()); id != 101 || err != nil || store.requests.Load() > 3 {
			t.Errorf("Wait() = %d, %v after %d requests, want 101 when the store answers in the end", id, err, store.requests.Load())
		}
		_ = g.Close()
		time.Sleep(time.Hour) // the last request ends
	})
}

// A start that fails logs nothing, since its error says it.
func TestStartFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(counter)
		store.unavailable.Store(true)
		var log logged.Text
		config := segment.Config{Logger: log.Logger()}
		if _, err := segment.New(t.Context(), store, "orders", config); !errors.Is(err, uid.ErrUnavailable) || log.String() != "" {
			t.Errorf("New() = %v, and logged %s, want uid.ErrUnavailable alone", err, &log)
		}
	})
}

// The error of a load that timed out says so, whatever the store's client calls it.
func TestTimeOutIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &counter{around: func(ctx context.Context, _ string, _ func() error) error {
			<-ctx.Done()
			return errUnavailable
		}}
		_, err := segment.New(t.Context(), plain{store}, "orders", segment.Config{})
		if !errors.Is(err, uid.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errUnavailable) {
			t.Errorf("New() = %v, want uid.ErrUnavailable, DeadlineExceeded and the client's error", err)
		}
	})
}
