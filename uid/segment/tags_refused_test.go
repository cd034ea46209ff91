package segment_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

// lookups returns a store that lists its tags or cannot, each of whose queries takes 10 ms
// or fails.
func lookups(lists bool) (*counter, segment.Store) {
	c := &counter{all: true}
	c.takes.Store(int64(10 * time.Millisecond))
	if lists {
		return c, c
	}
	return c, plain{c}
}

// Unknown tags cost one query a minute, and no row.
func TestUnknownTagsCostLittle(t *testing.T) {
	for _, lists := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			l, store := lookups(lists)
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
			if n := l.lists.Load() + l.requests.Load(); n < 9 || n > 12 {
				t.Errorf("lists %v: %d queries in ten minutes, want one a minute", lists, n)
			}
			if counters, _ := l.Memory.List(t.Context()); len(counters) != 0 || len(tags.Stats()) != 0 {
				t.Errorf("counters %v, and %d tags are open", counters, len(tags.Stats()))
			}
			must(t, l.Create(t.Context(), "none", 1, 10))
			time.Sleep(time.Minute)
			if id, err := tags.Wait(t.Context(), "none"); id != 1 || err != nil {
				t.Errorf("Wait() = %d, %v a minute after the tag was made", id, err)
			}
		})
	}
}

// A store that is unavailable is not a tag that is unknown, and is asked again soon.
func TestTagsOfAStoreThatIsUnavailable(t *testing.T) {
	for _, lists := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			l, store := lookups(lists)
			must(t, l.Create(t.Context(), "orders", 1, 10))
			l.unavailable.Store(true)
			tags := openTags(t, store, segment.TagsConfig{})
			for range 100 {
				if _, err := tags.Next(t.Context(), "orders"); !errors.Is(err, uid.ErrUnavailable) || errors.Is(err, segment.ErrUnknownTag) {
					t.Errorf("Next() = %v, want uid.ErrUnavailable", err)
				}
				time.Sleep(100 * time.Millisecond)
			}
			if n := l.lists.Load(); n > 11 {
				t.Errorf("%d queries in 10 s, want one a second", n)
			}
			l.unavailable.Store(false)
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
		l, store := lookups(false)
		tags := openTags(t, store, segment.TagsConfig{MaxTags: 3})
		for _, c := range []struct {
			tag     string
			queries int64
		}{{"a", 1}, {"b", 2}, {"c", 3}, {"a", 3}, {"d", 4}, {"a", 5}} {
			_, err := tags.Next(t.Context(), c.tag)
			wantErr(t, err, segment.ErrUnknownTag)
			if n := l.requests.Load(); n != c.queries {
				t.Errorf("%d queries up to %q, want %d", n, c.tag, c.queries)
			}
		}
	})
}
