package segment_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

// Shutdown ends with its context though many idle tags are being closed, at a store that hangs.
func TestTagsShutdownBesideIdleTags(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			store := new(counter)
			tags := openTags(t, store, segment.TagsConfig{Config: segment.Config{Create: true}, Idle: time.Hour})
			for i := range 100 {
				if _, err := tags.Next(t.Context(), fmt.Sprint("tag ", i)); err != nil {
					t.Fatal(err)
				}
			}
			store.deaf.Store(deaf)
			store.takes.Store(int64(time.Hour))
			time.Sleep(75*time.Minute + time.Second) // 16 tags are being closed
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := tags.Shutdown(ctx); err == nil || time.Since(began) > time.Second {
				t.Errorf("deaf %v: Shutdown() = %v after %v, want an error within a second", deaf, err, time.Since(began))
			}
			time.Sleep(2 * time.Hour)
		})
	}
}

// Shutdown ends with its context while a tag opens at a store that does not answer.
func TestTagsShutdownEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(counter)
		if err := store.Create(t.Context(), "orders", 1, 10); err != nil {
			t.Fatal(err)
		}
		store.takes.Store(int64(time.Hour))
		store.deaf.Store(true)
		tags := openTags(t, store, segment.TagsConfig{})
		go func() { _, _ = tags.Next(context.Background(), "orders") }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		began := time.Now()
		if _ = tags.Shutdown(ctx); time.Since(began) > 100*time.Millisecond {
			t.Errorf("Shutdown() took %v, want 100 ms", time.Since(began))
		}
		time.Sleep(2 * time.Hour)
	})
}

// A tag is idle since it was used last, not since it was opened.
func TestIdleSinceTheLastUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tags := openTags(t, new(counter), segment.TagsConfig{Config: segment.Config{Create: true}, Idle: time.Hour})
		for _, pause := range []time.Duration{50 * time.Minute, 40 * time.Minute} {
			if _, err := tags.Next(t.Context(), "orders"); err != nil {
				t.Fatal(err)
			}
			if time.Sleep(pause); len(tags.Stats()) != 1 {
				t.Fatalf("the tag was closed within %v of its last use", pause)
			}
		}
		if time.Sleep(time.Hour); len(tags.Stats()) != 0 {
			t.Error("the tag is open 100 minutes after its last use")
		}
	})
}

// A call whose tag is closed while it waits goes on with the ids that it has.
func TestWaitNThroughAClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(counter)
		tags := openTags(t, store, segment.TagsConfig{
			Config: segment.Config{Create: true, Step: 10, MaxStep: 10, LoadTimeout: 3 * time.Hour}, Idle: time.Hour,
		})
		if _, err := tags.Next(t.Context(), "orders"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		store.takes.Store(int64(2 * time.Hour))
		ids := make([]uid.ID, 25)
		closed := make(chan struct{})
		go func() {
			time.Sleep(100 * time.Minute)
			store.takes.Store(0)
			close(closed)
		}()
		n, err := tags.WaitN(t.Context(), "orders", ids)
		for i := 1; i < n; i++ {
			if ids[i] <= ids[i-1] {
				t.Fatalf("WaitN() = %d, %v: %v, want ids that ascend", n, err, ids)
			}
		}
		if n != len(ids) || err != nil {
			t.Errorf("WaitN() = %d, %v, want %d", n, err, len(ids))
		}
		<-closed
	})
}

// A call for a tag that is being closed can give up.
func TestGiveUpAClosingTag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(counter)
		tags := openTags(t, store, segment.TagsConfig{Config: segment.Config{Create: true}, Idle: time.Hour})
		if _, err := tags.Next(t.Context(), "orders"); err != nil {
			t.Fatal(err)
		}
		store.takes.Store(int64(4 * time.Second))
		time.Sleep(75*time.Minute + time.Second) // the tag is being closed
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if id, err := tags.Next(ctx, "orders"); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("Next() = %d, %v after %v, want the end of its context", id, err, time.Since(began))
		}
		store.takes.Store(0)
		time.Sleep(time.Minute)
	})
}

// deafList is a store whose List does not end with its context.
type deafList struct {
	*counter
	lists atomic.Int64
}

func (d *deafList) List(context.Context) ([]segment.Counter, error) {
	d.lists.Add(1)
	time.Sleep(time.Hour)
	return nil, errUnavailable
}

// A List that hangs delays a call by the time of a load, however often tags are opened,
// and is called once at a time.
func TestListHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &deafList{counter: new(counter)}
		tags := openTags(t, store, segment.TagsConfig{})
		for i := range 20 {
			began := time.Now()
			_, err := tags.Next(t.Context(), fmt.Sprint("tag ", i))
			if !errors.Is(err, segment.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > segment.DefaultLoadTimeout+time.Second {
				t.Errorf("Next() = %v after %v, want ErrUnavailable after the time-out of a load", err, time.Since(began))
			}
		}
		if n := store.lists.Load(); n != 1 {
			t.Errorf("%d queries at once, want one", n)
		}
		began := time.Now()
		if _, err := segment.New(t.Context(), store, "orders", segment.Config{}); !errors.Is(err, segment.ErrUnavailable) || time.Since(began) != segment.DefaultLoadTimeout {
			t.Errorf("New() = %v after %v, want ErrUnavailable after the time-out of a load", err, time.Since(began))
		}
		time.Sleep(2 * time.Hour)
	})
}
