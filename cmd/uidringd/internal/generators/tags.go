package generators

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/uidring/uidring/cmd/uidringd/internal/config"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

// tags serves the counters of a store whose tags match a pattern.
type tags struct {
	*segment.Tags
	about   *config.Generator
	entries *lru.Cache[string, *service.Entry] // of tags that were opened, also of those that were closed since
	refused atomic.Pointer[refusal]            // nil once the store has answered; written by open, read by unready and keepAsking
}

// refusal is a tag that was not opened, since the store is unavailable.
type refusal struct {
	tag string
	err error // nil if the caller did not wait for the store's answer
}

// askEvery is how soon tags that the store refused are tried again.
const askEvery = 5 * time.Second

func (n *state) openTags(ctx context.Context, c *config.Config, g *config.Generator, logger *slog.Logger) error {
	counters, err := n.counters(ctx, c.Store(g.Store), g.Table, false, logger)
	if err != nil {
		return err
	}
	looking, cancel := context.WithTimeout(ctx, g.LoadTimeout)
	defer cancel()
	if _, err := counters.Store.List(looking); err != nil && !errors.Is(err, segment.ErrUnknownTag) { // which is that of a missing table
		return counters.Wrap(err)
	}
	made, err := segment.NewTags(counters.Store, g.TagsConfig(logger))
	if err != nil {
		return counters.Wrap(err)
	}
	n.ends = append(n.ends, func(ctx context.Context) error { return counters.Wrap(made.Shutdown(ctx)) })
	n.tags = &tags{Tags: made, about: g}
	n.tags.entries, _ = lru.New[string, *service.Entry](g.MaxTags) // fails for a size below 1 only
	n.stats = func() map[string]uid.Stats {
		all := map[string]uid.Stats{}
		for _, s := range made.Stats() {
			all[s.Loads.Tag] = s
		}
		return all
	}
	return nil
}

// get returns the entry of a tag that was opened before. It keeps the entry of a tag that was
// closed as idle: the entry's ids continue to ascend.
func (t *tags) get(tag string) (*service.Entry, error) {
	if e, found := t.entries.Get(tag); found {
		return e, nil
	}
	return nil, uid.ErrNotReady
}

// open returns the entry of a tag, and opens the tag if it is closed.
func (t *tags) open(ctx context.Context, tag string) (*service.Entry, error) {
	_, err := t.NextN(ctx, tag, nil) // opens the tag, and draws nothing
	switch {
	case ctx.Err() != nil: // only keepAsking waits long enough
		t.refused.CompareAndSwap(nil, &refusal{tag: tag})
	case errors.Is(err, uid.ErrUnavailable):
		t.refused.Store(&refusal{tag, err})
	default:
		t.refused.Store(nil)
	}
	switch {
	case errors.Is(err, segment.ErrUnknownTag):
		return nil, fmt.Errorf("%w: %w", service.ErrUnknown, err)
	case err != nil:
		return nil, err
	}
	e := newEntry(tag, "segment", t.about)
	e.Claimer = tagged{t.Tags, tag}
	if before, found, _ := t.entries.PeekOrAdd(tag, e); found {
		return before, nil
	}
	return e, nil
}

// unready returns why no id of any tag can be issued, as far as the open tags and the last opening
// show. all are the open tags.
func (t *tags) unready(all map[string]uid.Stats) error {
	fault := allFail(all)
	if refused := t.refused.Load(); refused != nil && refused.err != nil && (len(all) == 0 || fault != nil) {
		return refused.err
	}
	return fault
}

// keepAsking opens a tag that the store refused, until the store answers: a server that is not ready
// gets no request that would.
func (t *tags) keepAsking(ctx context.Context) {
	ticks := time.NewTicker(askEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			if refused := t.refused.Load(); refused != nil {
				_, _ = t.open(ctx, refused.tag) // keeps the error
			}
		case <-ctx.Done():
			return
		}
	}
}

type tagged struct {
	tags *segment.Tags
	tag  string
}

func (t tagged) Claim(ctx context.Context, limit int64) (uid.Run, error) {
	return t.tags.Claim(ctx, t.tag, limit)
}

func (t tagged) TryClaim(limit int64) (uid.Run, error) { return t.tags.TryClaim(t.tag, limit) }
