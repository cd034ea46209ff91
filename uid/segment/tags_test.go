package segment_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

func openTags(t *testing.T, store segment.Store, config segment.TagsConfig) *segment.Tags {
	t.Helper()
	tags, err := segment.NewTags(store, config)
	must(t, err)
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
		for i, s := range stats {
			if i > 0 && stats[i-1].Loads.Tag >= s.Loads.Tag {
				t.Errorf("%q stands before %q", stats[i-1].Loads.Tag, s.Loads.Tag)
			}
			if s.Issued != 20 {
				t.Errorf("%q has issued %d ids, want 20", s.Loads.Tag, s.Issued)
			}
		}
		must(t, tags.Close())
		counters, err := store.List(t.Context())
		if len(counters) != 2000 || err != nil {
			t.Errorf("List() has %d counters, %v, want 2000", len(counters), err)
		}
		for _, c := range counters {
			if c.Next != 21 {
				t.Errorf("%q is at %d, want 21", c.Tag, c.Next)
			}
		}
		_, err = tags.Next(t.Context(), "tag 1")
		wantErr(t, err, uid.ErrClosed)
	})
}

// TryClaim takes ids that are ready, opens no tag, and never waits: not for a tag that is opening,
// nor for one that is closing as idle. Next can give up waiting for that.
func TestTagsTryClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(counter)
		store.takes.Store(int64(time.Second))
		tags := openTags(t, store, segment.TagsConfig{Config: segment.Config{Create: true, Step: 10}, Idle: time.Minute})
		is := func(what string, first uid.ID, n int64, want error) {
			t.Helper()
			began := time.Now()
			if run, err := tags.TryClaim("orders", 6); run.First != first || run.N != n || !errors.Is(err, want) || time.Since(began) > 0 {
				t.Errorf("%s: %v, %v after %v", what, run, err, time.Since(began))
			}
		}
		is("closed", 0, 0, uid.ErrNotReady)
		go func() { _, _ = tags.Next(t.Context(), "orders") }()
		synctest.Wait()
		is("opening", 0, 0, uid.ErrNotReady)
		time.Sleep(time.Minute / 2)
		is("open", 2, 6, nil)
		for len(tags.Stats()) == 1 && !tags.Stats()[0].Closed {
			time.Sleep(time.Second / 4)
		}
		is("closing", 0, 0, uid.ErrNotReady)
		ends(t, "Next", time.Millisecond, func(ctx context.Context) error { return tagsCalls["Tags.Next"](ctx, tags) })
		must(t, tags.Close())
		is("after Close", 0, 0, uid.ErrClosed)
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
			_, err := tags.WaitN(t.Context(), "busy", ids[:1])
			must(t, err)
			for range 4 {
				time.Sleep(30 * time.Minute)
				_, err := tags.Wait(t.Context(), "busy")
				must(t, err)
			}
			if stats := tags.Stats(); len(stats) != 1 || stats[0].Loads.Tag != "busy" {
				t.Fatalf("Stats() = %+v after 2 h, want busy alone", stats)
			}
		}
		store.unavailable.Store(true) // for ranges that return
		if time.Sleep(2 * time.Hour); len(tags.Stats()) != 0 {
			t.Errorf("Stats() = %+v without the store, want none", tags.Stats())
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
			_, err := tags.Next(t.Context(), fmt.Sprint("tag ", 5+i))
			must(t, err)
		}
		_, err := tags.Next(t.Context(), strings.Repeat("x", 129))
		wantErr(t, err, segment.ErrUnknownTag)
		_, err = segment.NewTags(nil, segment.TagsConfig{Config: segment.Config{Step: -1}, MaxTags: -1, Idle: -1})
		wantErr(t, err, uid.ErrConfig, "store is nil", "Step is -1", "MaxTags is -1", "Idle is -1ns")
	})
}
