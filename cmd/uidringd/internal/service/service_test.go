package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// one is a catalog that has a single generator, under any name.
type one struct {
	entry *Entry
	err   error
	gets  atomic.Int64
	cold  bool // only Open finds entry
}

// Source has the names 0, 1 and 2 in sources of their own.
func (o *one) Source(name string) (i, n int) { return max(0, strings.Index("012", name)), 3 }

func (o *one) Get(string) (*Entry, error) {
	o.gets.Add(1)
	if o.cold {
		return nil, uid.ErrNotReady
	}
	return o.entry, o.err
}

// Open hangs if o has neither a generator nor an error.
func (o *one) Open(ctx context.Context, _ string) (*Entry, error) {
	if o.entry == nil && o.err == nil {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return o.entry, o.err
}

// claim is Claim of a generator.
type claim func(ctx context.Context, limit int64) (uid.Run, error)

func (c claim) Claim(ctx context.Context, limit int64) (uid.Run, error) { return c(ctx, limit) }

// TryClaim calls c with a context that has ended.
func (c claim) TryClaim(limit int64) (uid.Run, error) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	run, err := c(ctx, limit)
	if errors.Is(err, context.Canceled) {
		err = uid.ErrNotReady
	}
	return run, err
}

func entry(c claim) *Entry {
	return &Entry{Name: "a", Kind: "cached", Claimer: c, MaxIDs: 5000, Instance: "i"}
}

// counting issues 1, 2, 3 and so on, at most 512 at once, and leaves out one id after each
// multiple of gap.
func counting(gap int64) claim {
	var mu sync.Mutex
	next := int64(1)
	return func(_ context.Context, limit int64) (uid.Run, error) {
		mu.Lock()
		defer mu.Unlock()
		run := uid.Run{First: uid.ID(next), N: min(limit, 512)}
		if gap > 0 {
			run.N = min(run.N, gap-(next-1)%gap)
		}
		next += run.N
		if gap > 0 && (next-1)%gap == 0 {
			next++
		}
		return run, nil
	}
}

func hanging(ctx context.Context, _ int64) (uid.Run, error) {
	<-ctx.Done()
	return uid.Run{}, fmt.Errorf("uid: wait for an id: %w", ctx.Err())
}

func newService(t *testing.T, c Catalog, config Config) *Service {
	t.Helper()
	config.Logger = cmp.Or(config.Logger, slog.New(slog.DiscardHandler))
	return New(c, config)
}

// TestMostIDs asks for as many ids as the limits allow, for one more, and for none.
func TestMostIDs(t *testing.T) {
	layout := bits.Registry()
	for _, test := range []struct {
		name        string
		entry       *Entry
		config      Config
		ids, runIDs int
	}{
		{"counter", &Entry{}, Config{}, DefaultIDs, DefaultRunIDs},
		{"counter, with limits", &Entry{}, Config{Limits: Limits{IDs: 10, RunIDs: 20}}, 10, 20},
		{"counter, more ids than run ids", &Entry{}, Config{Limits: Limits{IDs: 30, RunIDs: 20}}, 30, 30},
		{"counter with a limit of its own", &Entry{MaxIDs: 5}, Config{}, 5, 5},
		{"counter with a rate", &Entry{Rate: 1}, Config{}, DefaultIDs, DefaultIDs},
		{"ids of a layout", &Entry{Layout: &layout}, Config{}, DefaultIDs, DefaultIDs},
	} {
		test.entry.Name, test.entry.Claimer = "a", counting(0)
		s := newService(t, &one{entry: test.entry}, test.config)
		for _, c := range []struct {
			most int
			draw func(context.Context, Caller, string, int) (*Drawn, error)
		}{{test.ids, s.Draw}, {test.runIDs, s.DrawRuns}} {
			for _, n := range []int{-1, 0, c.most + 1} {
				_, err := c.draw(t.Context(), Caller{}, "a", n)
				if want := fmt.Sprintf(`n is %d, want 1 to %d for "a"`, n, c.most); kindOf(t, err) != BadRequest || err.Error() != want {
					t.Errorf("%s: %v, want %s", test.name, err, want)
				}
			}
			// A rate has its own refusals.
			if d, err := c.draw(t.Context(), Caller{}, "a", c.most); test.entry.Rate == 0 && (err != nil || d.n != int64(c.most)) {
				t.Errorf("%s: %d ids: %v", test.name, c.most, err)
			}
		}
	}
}

// TestDrawEachAboveTheRate draws as many as the limits allow, and then is refused.
func TestDrawEachAboveTheRate(t *testing.T) {
	s := newService(t, &one{entry: entry(counting(0))}, Config{Limits: Limits{Requests: 0.001, Burst: 3}})
	d, err := s.DrawEach(t.Context(), Caller{key: "a"}, "a", 5)
	if err != nil || d.n != 3 {
		t.Fatalf("%+v, %v; want 3 of 5 ids", d, err)
	}
	if d, err := s.DrawEach(t.Context(), Caller{key: "a"}, "a", 5); kindOf(t, err) != TooManyRequests {
		t.Errorf("%+v, %v; want a refusal", d, err)
	}
}

// TestRuns compares the answer's runs with the ids that were claimed. An answer is not overwritten by one that is drawn
// meanwhile.
func TestRuns(t *testing.T) {
	for gap := range int64(5) {
		for _, n := range []int{1, 2, 511, 512, 513, 1024, 5000} {
			s := newService(t, &one{entry: entry(counting(gap))}, Config{})
			d, err := s.Draw(t.Context(), Caller{}, "a", n)
			need.Must(t, err)
			meanwhile, err := s.Draw(t.Context(), Caller{}, "a", n)
			need.Must(t, err)
			var drawn, want []uid.ID
			for i, run := range d.Runs {
				if i > 0 && run.First == d.Runs[i-1].First+uid.ID(d.Runs[i-1].N) {
					t.Fatalf("runs %v and %v are one", d.Runs[i-1], run)
				}
				drawn = expand(drawn, run)
			}
			for each := counting(gap); len(want) < n; {
				run, _ := each(t.Context(), 1)
				want = expand(want, run)
			}
			if !slices.Equal(drawn, want) {
				t.Errorf("%d ids with a gap of %d: runs %v", n, gap, d.Runs)
			}
			d.Done()
			meanwhile.Done()
		}
	}
}

func expand(ids []uid.ID, run uid.Run) []uid.ID {
	for i := range run.N {
		ids = append(ids, run.First+uid.ID(i))
	}
	return ids
}

// TestLarge shows that what a large answer needed is not kept for the next request.
func TestLarge(t *testing.T) {
	pool = sync.Pool{New: pool.New} // without what other tests have put
	for _, large := range []*Drawn{{Runs: make([]uid.Run, 0, mostRuns+1)}, {Buffer: make([]byte, 0, mostBytes+1)}} {
		large.Done()
		if d := pool.Get().(*Drawn); d == large {
			t.Errorf("%d runs and %d bytes are kept", cap(d.Runs), cap(d.Buffer))
		}
	}
}

// TestWait shows that a request waits no longer than it may, nor than its client does.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, &one{entry: entry(hanging)}, Config{Limits: Limits{Wait: 3 * time.Second}})
		began := time.Now()
		_, err := s.Draw(t.Context(), Caller{}, "a", 1)
		if took := time.Since(began); kindOf(t, err) != Unavailable || took != 3*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
		opens := newService(t, &one{cold: true}, Config{Limits: Limits{Wait: 3 * time.Second}})
		for name, ask := range map[string]func(context.Context) error{
			"Draw":     func(ctx context.Context) error { _, err := s.Draw(ctx, Caller{}, "a", 1); return err },
			"DrawRuns": func(ctx context.Context) error { _, err := s.DrawRuns(ctx, Caller{}, "a", 1); return err },
			"DrawEach": func(ctx context.Context) error { _, err := s.DrawEach(ctx, Caller{}, "a", 1); return err },
			"Find":     func(ctx context.Context) error { _, err := opens.Find(ctx, Caller{}, "a", 1); return err },
			"Parse":    func(ctx context.Context) error { _, err := opens.Parse(ctx, Caller{}, "a", 1); return err },
		} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			if err := ask(ctx); kindOf(t, err) != Expired || time.Since(began) != time.Second {
				t.Errorf("%s after %v: %v", name, time.Since(began), err)
			}
		}
	})
}

// TestWaiting shows that requests above a source's share of Waiting are refused at once,
// and those of other sources are not. Ids that are ready need no place. A request frees
// its place, however it ends.
func TestWaiting(t *testing.T) {
	for _, each := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			c := &one{}
			s := newService(t, c, Config{Limits: Limits{Wait: time.Second, Waiting: 3*each + 1}})
			draw := func(name string, f claim) error {
				c.entry = entry(f)
				_, err := s.Draw(t.Context(), Caller{}, name, 1)
				return err
			}
			for range 3 {
				c.entry = entry(hanging)
				var waiting sync.WaitGroup
				began := time.Now()
				for range each {
					for _, name := range []string{"0", "2"} {
						waiting.Go(func() {
							if _, err := s.Draw(t.Context(), Caller{}, name, 1); time.Since(began) != time.Second {
								t.Errorf("a request with a place gets %v after %v", err, time.Since(began))
							}
						})
					}
				}
				synctest.Wait()
				if err := draw("0", counting(0)); err != nil {
					t.Errorf("ids that are ready: %v", err)
				}
				for _, name := range []string{"0", "2"} {
					err, e := draw(name, hanging), (*Error)(nil)
					want := fmt.Sprintf("%d requests wait for ids of generator %q already", each, name)
					if !errors.As(err, &e) || e.Kind != Unavailable || e.Retry <= 0 || e.Detail != want || e.Cause == nil || time.Since(began) != 0 {
						t.Errorf("one request more gets %v after %v", err, time.Since(began))
					}
				}
				if err := draw("1", hanging); time.Since(began) != time.Second {
					t.Errorf("a request of another source gets %v after %v", err, time.Since(began))
				}
				waiting.Wait()
			}
			for range 3 {
				func() {
					defer func() { recover() }()
					_ = draw("0", func(ctx context.Context, _ int64) (uid.Run, error) { panic(ctx.Err()) })
				}()
			}
			began := time.Now()
			if err := draw("0", hanging); time.Since(began) != time.Second {
				t.Errorf("a request alone gets %v after %v", err, time.Since(began))
			}
		})
	}
}

// TestReadyFirst has a generator with fewer ids ready than the request wants. The request
// takes these ids, waits for the rest, and answers with both.
func TestReadyFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left, issue := int64(100), counting(0)
		s := newService(t, &one{entry: entry(func(ctx context.Context, limit int64) (uid.Run, error) {
			if left == 0 {
				select {
				case <-ctx.Done():
					return uid.Run{}, ctx.Err()
				case <-time.After(time.Second):
					left = 1000
				}
			}
			run, err := issue(ctx, min(limit, left))
			left -= run.N
			return run, err
		})}, Config{})
		d, err := s.Draw(t.Context(), Caller{}, "a", 300)
		need.Must(t, err)
		if want := (uid.Run{First: 1, N: 300}); len(d.Runs) != 1 || d.Runs[0] != want {
			t.Errorf("the answer is %v, want %v", d.Runs, want)
		}
	})
}

// TestAsksOnce has a request ask the catalog once, also if it waits for ids. Only a counter
// that is not open is opened, with a place.
func TestAsksOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, cold := range []bool{false, true} {
			c := &one{entry: entry(counting(0)), cold: cold}
			s := newService(t, c, Config{Limits: Limits{Waiting: 1, Wait: time.Second}})
			if d, err := s.Draw(t.Context(), Caller{}, "a", 600); err != nil || d.n != 600 || c.gets.Load() != 1 {
				t.Errorf("cold %v: %v after %d questions", cold, err, c.gets.Load())
			}
			if e, err := s.Find(t.Context(), Caller{}, "a", 1); err != nil || e != c.entry {
				t.Errorf("cold %v: %v, %v", cold, e, err)
			}
			c.entry = entry(hanging)
			var first sync.WaitGroup
			first.Go(func() { _, _ = s.Draw(t.Context(), Caller{}, "a", 1) })
			synctest.Wait()
			if _, err := s.Find(t.Context(), Caller{}, "a", 1); (err != nil) != cold {
				t.Errorf("cold %v, without a place: %v", cold, err)
			}
			first.Wait()
		}
	})
}
