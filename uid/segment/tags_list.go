package segment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uidring/uidring/internal/guard"
)

// relist is how soon a list that could not be read is read again.
const relist = time.Second

// list is the tags that the store has, by one query.
type list struct {
	began time.Time
	done  chan struct{}

	// Written before done is closed.
	tags    map[string]bool
	striped map[string]string // the tag of Stripe's counter by the plain tag
	err     error
}

// known returns an error for a tag that the store does not list, unless Create is set, and
// for a tag that Stripe uses. It queries the store at most once a minute, and waits for
// the query. It gives up a query that hangs, and begins no other until that one ends.
func (t *Tags) known(ctx context.Context, tag string) error {
	if _, can := t.store.(Lister); !can {
		return nil
	}
	l := t.lately()
	if err := l.wait(ctx, t.config.LoadTimeout+grace); ctx.Err() != nil && err != nil {
		return fmt.Errorf("segment: look for %q: %w", tag, err)
	} else if err != nil {
		return &LoadError{t.store.String(), tag, err, relist}
	}
	switch {
	case l.err != nil:
		return unanswered(t.store, tag, l.err, relist)
	case l.striped[tag] != "":
		return besideStripe(t.store, tag, l.striped[tag])
	case !l.tags[tag] && !t.config.Create:
		return fmt.Errorf("%w: %q in %s", ErrUnknownTag, tag, t.store)
	}
	return nil
}

// wait waits for the store's answer, until timeout after the query began.
func (l *list) wait(ctx context.Context, timeout time.Duration) error {
	select {
	case <-l.done:
		return nil
	default:
	}
	ctx, cancel := context.WithDeadline(ctx, l.began.Add(timeout))
	defer cancel()
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lately returns the last list, or begins to read another if the last list is old.
func (t *Tags) lately() *list {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := t.list; l != nil {
		select {
		case <-l.done:
			age := time.Since(l.began)
			if age < relist || l.err == nil && age < again {
				return l
			}
		default:
			return l
		}
	}
	l := &list{began: time.Now(), done: make(chan struct{}), tags: map[string]bool{}, striped: map[string]string{}}
	t.list = l
	go func() {
		defer close(l.done)
		ctx, cancel := context.WithTimeout(t.ctx, t.config.LoadTimeout)
		defer cancel()
		var counters []Counter
		l.err = guard.Call("segment", "Store.List", func() (err error) {
			counters, err = t.store.(Lister).List(ctx)
			return err
		})
		if errors.Is(l.err, ErrUnknownTag) { // no table yet
			l.err = nil
		}
		for _, c := range counters {
			if _, of := stripeOf(c.Tag); of != c.Tag {
				l.striped[of] = c.Tag
			} else {
				l.tags[c.Tag] = true
			}
		}
	}()
	return l
}
