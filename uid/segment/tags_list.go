package segment

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// relist is how soon a list that could not be read is read again.
const relist = time.Second

// checkListed returns an error for a tag that the store does not list, unless Create is set, and
// for a tag that Striped uses. It queries the store at most once a minute, and waits for
// the query. It gives up a query that hangs, and begins no other until that one ends.
func (t *Tags) checkListed(ctx context.Context, tag string) error {
	lister, can := t.store.(Lister)
	if !can {
		return nil
	}
	l := t.recentList(lister)
	if err := l.wait(ctx); ctx.Err() != nil && err != nil {
		return fmt.Errorf("segment: look for %q: %w", tag, err)
	} else if err != nil {
		return &LoadError{t.store.String(), tag, err, relist}
	}
	switch found, is := l.Value[tag]; {
	case l.Err != nil:
		return asLoadError(t.store, tag, l.Err, relist)
	case !is && !t.config.Create:
		return fmt.Errorf("%w: %q in %s", ErrUnknownTag, tag, t.store)
	case is && found != tag:
		return besideStripe(t.store, tag, found)
	}
	return nil
}

func (t *Tags) recentList(lister Lister) *call[map[string]string] {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := t.list; l != nil {
		age := time.Since(l.began)
		if !l.Done() || age < relist || l.Err == nil && age < keepError {
			return l
		}
	}
	t.list = begin(t.ctx, t.config.LoadTimeout, "Store.List", func(ctx context.Context) (map[string]string, error) {
		counters, err := lister.List(ctx)
		if errors.Is(err, ErrUnknownTag) { // no table yet
			return nil, nil
		}
		return countersOf(counters), err
	})
	return t.list
}
