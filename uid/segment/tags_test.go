package segment_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
)

func openTags(t *testing.T, store segment.Store, config segment.TagsConfig) *segment.Tags {
	t.Helper()
	tags, err := segment.NewTags(store, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tags.Close() })
	return tags
}

// Thousands of tags are opened on demand. Each counts for itself, whoever asks, and
// closing returns all that is left.
func TestTags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(counter)
		store.takes.Store(int64(time.Millisecond))
		tags := openTags(t, store, segment.TagsConfig{Config: segment.Config{Create: true, Step: 10}})
		var users sync.WaitGroup
		for user := range 20 {
			users.Go(func() {
				for i := range 2000 {
					tag := fmt.Sprint("tag ", (i*7+user)%2000)
					if id, err := tags.Next(t.Context(), tag); id < 1 || id > 20 || err != nil {
						t.Errorf("Next(%q) = %d, %v", tag, id, err)
						return
					}
				}
			})
		}
		users.Wait()
		stats := tags.Stats()
		if len(stats) != 2000 {
			t.Errorf("%d tags, want 2000", len(stats))
		}
		for _, s := range stats {
			if s.Issued != 20 {
				t.Errorf("%q has issued %d ids, want 20", s.Tag, s.Issued)
			}
		}
		if err := tags.Close(); err != nil {
			t.Fatal(err)
		}
		counters, err := store.List(t.Context())
		for _, c := range counters {
			if c.Next != 21 || err != nil {
				t.Errorf("%q is at %d, %v, want 21", c.Tag, c.Next, err)
			}
		}
		if _, err := tags.Next(t.Context(), "tag 1"); !errors.Is(err, uid.ErrClosed) {
			t.Errorf("Next() = %v after Close, want ErrClosed", err)
		}
	})
}

// lookups counts the queries for tags.
type lookups struct {
	*segmenttest.Memory
	lists, reserves atomic.Int64
	away            atomic.Bool
}

func (l *lookups) List(ctx context.Context) ([]segment.Counter, error) {
	l.lists.Add(1)
	time.Sleep(10 * time.Millisecond)
	if l.away.Load() {
		return nil, errAway
	}
	return l.Memory.List(ctx)
}

func (l *lookups) Reserve(ctx context.Context, tag string, n int64) (int64, int64, error) {
	l.reserves.Add(1)
	if l.away.Load() {
		return 0, 0, errAway
	}
	return l.Memory.Reserve(ctx, tag, n)
}

// plain is a store that cannot list.
type plain struct{ segment.Store }

// Unknown tags cost one query a minute, and no row.
func TestUnknownTagsCostLittle(t *testing.T) {
	for _, lists := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			l := &lookups{Memory: new(segmenttest.Memory)}
			store := segment.Store(l)
			if !lists {
				store = plain{l}
			}
			tags := openTags(t, store, segment.TagsConfig{})
			var users sync.WaitGroup
			for user := range 20 {
				users.Go(func() {
					for i := range 600 {
						tag := "none"
						if lists {
							tag = fmt.Sprint("none ", user*600+i)
						}
						if _, err := tags.Wait(t.Context(), tag); !errors.Is(err, segment.ErrUnknownTag) {
							t.Errorf("Wait() = %v, want ErrUnknownTag", err)
							return
						}
						time.Sleep(time.Second)
					}
				})
			}
			users.Wait()
			if n := l.lists.Load() + l.reserves.Load(); n < 9 || n > 12 {
				t.Errorf("lists %v: %d queries in ten minutes, want one a minute", lists, n)
			}
			if counters, _ := l.Memory.List(t.Context()); len(counters) != 0 || len(tags.Stats()) != 0 {
				t.Errorf("counters %v, and %d tags are open", counters, len(tags.Stats()))
			}
			if err := l.Create(t.Context(), "none", 1, 10); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			if id, err := tags.Wait(t.Context(), "none"); id != 1 || err != nil {
				t.Errorf("Wait() = %d, %v a minute after the tag was made", id, err)
			}
		})
	}
}

// A store that is away is not a tag that is unknown, and is asked again soon.
func TestTagsOfAStoreThatIsAway(t *testing.T) {
	for _, lists := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			l := &lookups{Memory: new(segmenttest.Memory)}
			store := segment.Store(l)
			if !lists {
				store = plain{l}
			}
			if err := l.Create(t.Context(), "orders", 1, 10); err != nil {
				t.Fatal(err)
			}
			l.away.Store(true)
			tags := openTags(t, store, segment.TagsConfig{})
			for range 100 {
				if _, err := tags.Next(t.Context(), "orders"); !errors.Is(err, segment.ErrAway) || errors.Is(err, segment.ErrUnknownTag) {
					t.Errorf("Next() = %v, want ErrAway", err)
				}
				time.Sleep(100 * time.Millisecond)
			}
			if n := l.lists.Load(); n > 11 {
				t.Errorf("%d queries in 10 s, want one a second", n)
			}
			l.away.Store(false)
			time.Sleep(time.Second)
			if id, err := tags.Next(t.Context(), "orders"); id != 1 || err != nil {
				t.Errorf("lists %v: Next() = %d, %v a second after the store is back", lists, id, err)
			}
		})
	}
}

// Of tags that are refused, no more are remembered than may be open.
func TestRefusedTagsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lookups{Memory: new(segmenttest.Memory)}
		tags := openTags(t, plain{l}, segment.TagsConfig{MaxTags: 3})
		for _, c := range []struct {
			tag     string
			queries int64
		}{{"a", 1}, {"b", 2}, {"c", 3}, {"a", 3}, {"d", 4}, {"a", 5}} {
			if _, err := tags.Next(t.Context(), c.tag); !errors.Is(err, segment.ErrUnknownTag) {
				t.Errorf("Next() = %v, want ErrUnknownTag", err)
			}
			if n := l.reserves.Load(); n != c.queries {
				t.Errorf("%d queries up to %q, want %d", n, c.tag, c.queries)
			}
		}
	})
}

// A tag that nobody uses is closed, and its ids returned. Whoever uses it again
// gets the ids that follow.
func TestIdleTagsAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(counter)
		tags := openTags(t, store, segment.TagsConfig{Config: segment.Config{Create: true, Step: 10}, Idle: time.Hour})
		ids := make([]uid.ID, 7)
		for round := range 5 {
			if n, err := tags.NextN(t.Context(), "orders", ids); n != 7 || err != nil || ids[6] != uid.ID(7*round+7) {
				t.Fatalf("NextN() = %d, %v, %v in round %d", n, err, ids, round)
			}
			if round == 2 {
				time.Sleep(59 * time.Minute)
				if stats := tags.Stats(); len(stats) != 2 {
					t.Errorf("%d tags are open after 59 minutes, want both", len(stats))
				}
				continue
			}
			if n, err := tags.WaitN(t.Context(), "busy", ids[:1]); n != 1 || err != nil {
				t.Fatal(err)
			}
			for range 4 {
				time.Sleep(30 * time.Minute)
				if _, err := tags.Wait(t.Context(), "busy"); err != nil {
					t.Fatal(err)
				}
			}
			if stats := tags.Stats(); len(stats) != 1 || stats[0].Tag != "busy" {
				t.Fatalf("Stats() = %+v after 2 h, want busy alone", stats)
			}
		}
	})
}

// Calls that race the closing of an idle tag get ids all the same.
func TestIdleTagsRace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(counter)
		store.takes.Store(int64(3 * time.Millisecond))
		tags := openTags(t, store, segment.TagsConfig{Config: segment.Config{Create: true, Step: 10}, Idle: 10 * time.Millisecond})
		var mu sync.Mutex
		seen := map[uid.ID]bool{}
		var users sync.WaitGroup
		for user := range 5 {
			users.Go(func() {
				for i := range 500 {
					id, err := tags.Next(t.Context(), "orders")
					mu.Lock()
					if err != nil || seen[id] {
						t.Errorf("Next() = %d, %v; issued before: %v", id, err, seen[id])
					}
					seen[id] = true
					mu.Unlock()
					time.Sleep(time.Duration((i*user)%23) * time.Millisecond)
				}
			})
		}
		users.Wait()
		if err := tags.Close(); err != nil || store.next(t) != 2501 {
			t.Errorf("Close() = %v, and the counter is %d, want 2501", err, store.next(t))
		}
	})
}

func TestTagsLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tags := openTags(t, new(counter), segment.TagsConfig{Config: segment.Config{Create: true}, MaxTags: 3})
		for i := range 5 {
			_, err := tags.Next(t.Context(), fmt.Sprint("tag ", i))
			if i < 3 && err != nil || i >= 3 && !errors.Is(err, segment.ErrTooManyTags) {
				t.Errorf("tag %d: Next() = %v", i, err)
			}
		}
		time.Sleep(2 * segment.DefaultIdle)
		for i := range 3 { // which have room again
			if _, err := tags.Next(t.Context(), fmt.Sprint("tag ", 5+i)); err != nil {
				t.Errorf("Next() = %v once all tags were idle", err)
			}
		}
		if _, err := tags.Next(t.Context(), strings.Repeat("x", 129)); !errors.Is(err, segment.ErrTag) {
			t.Errorf("Next() = %v, want ErrTag", err)
		}
		_, err := segment.NewTags(nil, segment.TagsConfig{Config: segment.Config{Step: -1}, MaxTags: -1, Idle: -1})
		for _, want := range []string{"store is nil", "Step is -1", "MaxTags is -1", "Idle is -1ns"} {
			if !errors.Is(err, segment.ErrConfig) || !strings.Contains(err.Error(), want) {
				t.Errorf("NewTags() = %v, want %q in it", err, want)
			}
		}
	})
}

// Whoever waits for a tag to open can give up, and Close does not wait for a store
// that does not answer.
func TestTagsOfAStoreThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(counter)
		if err := store.Create(t.Context(), "orders", 1, 10); err != nil {
			t.Fatal(err)
		}
		store.takes.Store(int64(time.Hour))
		store.deaf.Store(true)
		tags := openTags(t, store, segment.TagsConfig{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if _, err := tags.Next(ctx, "orders"); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("Next() = %v after %v, want the end of its context", err, time.Since(began))
		}
		began = time.Now()
		if err := tags.Close(); time.Since(began) > uid.CloseTimeout {
			t.Errorf("Close() = %v after %v", err, time.Since(began))
		}
		time.Sleep(2 * time.Hour)
	})
}
