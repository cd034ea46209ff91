package segment_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

// Shutdown ends with its context though many idle tags are being closed and one is being opened, at a store that hangs.
func TestTagsShutdownBesideIdleTags(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			store := new(counter)
			tags := openTags(t, store, segment.TagsConfig{Config: segment.Config{Create: true}, Idle: time.Hour})
			for i := range 100 {
				_, err := tags.Next(t.Context(), fmt.Sprint("tag ", i))
				must(t, err)
			}
			store.deaf.Store(deaf)
			store.takes.Store(int64(time.Hour))
			time.Sleep(75*time.Minute + time.Second) // 16 tags are being closed
			go tags.Next(context.Background(), "another")
			synctest.Wait()
			ends(t, fmt.Sprint("deaf ", deaf), 100*time.Millisecond, tags.Shutdown)
			time.Sleep(2 * time.Hour)
		})
	}
}

// Thousands of tags are opened by as many calls at once, and closed 16 at a time. What is
// not returned in time is one line.
func TestManyTagsAtOnce(t *testing.T) {
	need.Time(t)
	const n, takes = 3000, 20 * time.Millisecond
	for _, c := range []struct {
		bound time.Duration
		want  string // of the error
	}{
		{uid.CloseTimeout, ""},
		{time.Second + takes/2, `^segment: unused ids of 2[12]\d\d of 3000 tags were not returned, first \[("tag \d+" ?){5}\]: .*return \d+ ids of "tag \d+" to memory: context deadline exceeded$`},
	} {
		synctest.Test(t, func(t *testing.T) {
			store := new(counter)
			for i := range n {
				must(t, store.Create(t.Context(), fmt.Sprint("tag ", i), 1, 10))
			}
			store.takes.Store(int64(takes))
			tags := openTags(t, store, segment.TagsConfig{})
			began := time.Now()
			var users sync.WaitGroup
			for i := range n {
				users.Go(func() {
					if _, err := tags.Next(t.Context(), fmt.Sprint("tag ", i)); err != nil {
						t.Error(err)
					}
				})
			}
			users.Wait()
			if took := time.Since(began); took > 2*takes {
				t.Errorf("%d tags are open after %v, want %v", n, took, takes)
			}
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), c.bound)
			defer cancel()
			err := tags.Shutdown(ctx)
			text := fmt.Sprint(err)
			if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, context.DeadlineExceeded) || !regexp.MustCompile(c.want).MatchString(text)) {
				t.Errorf("Shutdown() = %v, want %s", err, c.want)
			}
		})
	}
}

// A call whose tag is closed while it waits goes on with the ids that it has.
func TestWaitNThroughAClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(counter)
		tags := openTags(t, store, segment.TagsConfig{
			Config: segment.Config{Create: true, Step: 10, MaxStep: 10, LoadTimeout: 3 * time.Hour}, Idle: time.Hour,
		})
		_, err := tags.Next(t.Context(), "orders")
		must(t, err)
		synctest.Wait()
		store.takes.Store(int64(2 * time.Hour))
		ids := make([]uid.ID, 25)
		time.AfterFunc(100*time.Minute, func() { store.takes.Store(0) })
		n, err := tags.WaitN(t.Context(), "orders", ids)
		for i := 1; i < n; i++ {
			if ids[i] <= ids[i-1] {
				t.Fatalf("WaitN() = %d, %v: %v, want ids that ascend", n, err, ids)
			}
		}
		if n != len(ids) || err != nil {
			t.Errorf("WaitN() = %d, %v, want %d", n, err, len(ids))
		}
	})
}

// A List that hangs delays a call by the time of a load, however often tags are opened,
// and is called once at a time.
func TestListHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &counter{around: func(context.Context, string, func() error) error {
			time.Sleep(time.Hour)
			return errUnavailable
		}}
		tags := openTags(t, store, segment.TagsConfig{})
		for i := range 20 {
			began := time.Now()
			_, err := tags.Next(t.Context(), fmt.Sprint("tag ", i))
			if !errors.Is(err, uid.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > segment.DefaultLoadTimeout+time.Second {
				t.Errorf("Next() = %v after %v, want uid.ErrUnavailable after the time-out of a load", err, time.Since(began))
			}
		}
		if n := store.lists.Load(); n != 1 {
			t.Errorf("%d queries at once, want one", n)
		}
		began := time.Now()
		if _, err := segment.New(t.Context(), store, "orders", segment.Config{}); !errors.Is(err, uid.ErrUnavailable) || time.Since(began) != segment.DefaultLoadTimeout {
			t.Errorf("New() = %v after %v, want uid.ErrUnavailable after the time-out of a load", err, time.Since(began))
		}
		time.Sleep(2 * time.Hour)
	})
}
