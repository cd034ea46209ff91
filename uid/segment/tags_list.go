package segment

import (
	"context"
	"fmt"
	"time"
)

// relist is how soon a list that could not be read is read again.
const relist = time.Second

// list is the tags that the store has, by one query.
type list struct {
	began time.Time
	done  chan struct{}

	// Written before done is closed.
	tags map[string]bool
	err  error
}

// known returns an error for a tag that the store does not list. It queries the store
// at most once a minute, and waits for the query.
func (t *Tags) known(ctx context.Context, tag string) error {
	lister, can := t.store.(Lister)
	if !can || t.config.Create {
		return nil
	}
	l := t.lately(lister, tag)
	select {
	case <-l.done:
	case <-ctx.Done():
		return fmt.Errorf("segment: look for %q: %w", tag, ctx.Err())
	}
	switch {
	case l.err != nil:
		return &LoadError{t.store.String(), tag, l.err, relist}
	case !l.tags[tag]:
		return fmt.Errorf("%w: %q in %s", ErrUnknownTag, tag, t.store)
	}
	return nil
}

// lately returns the last list, or begins to read another if the last list is old and
// does not have the tag.
func (t *Tags) lately(lister Lister, tag string) *list {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := t.list; l != nil {
		select {
		case <-l.done:
			age := time.Since(l.began)
			if l.tags[tag] || age < relist || l.err == nil && age < again {
				return l
			}
		default:
			return l
		}
	}
	l := &list{began: time.Now(), done: make(chan struct{})}
	t.list = l
	go func() {
		defer close(l.done)
		ctx, cancel := context.WithTimeout(t.ctx, max(t.config.LoadTimeout, DefaultLoadTimeout))
		defer cancel()
		counters, err := lister.List(ctx)
		l.tags, l.err = make(map[string]bool, len(counters)), err
		for _, c := range counters {
			l.tags[c.Tag] = true
		}
	}()
	return l
}
