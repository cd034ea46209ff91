package generators

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/uidring/uidring/cmd/uidringd/internal/config"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

// tags serves the counters of a store whose tags match a pattern.
type tags struct {
	*segment.Tags
	about *config.Tags

	mu      sync.RWMutex
	entries map[string]*service.Entry
}

func (n *state) openTags(ctx context.Context, c *config.Config, g *config.Tags, logger *slog.Logger) error {
	counters, err := n.counters(ctx, c.Store(g.Store), g.Table, false, logger)
	if err != nil {
		return err
	}
	made, err := segment.NewTags(counters.Store, g.Config(logger))
	if err != nil {
		return counters.Wrap(err)
	}
	n.ends = append(n.ends, func(ctx context.Context) error { return counters.Wrap(made.Shutdown(ctx)) })
	n.tags = &tags{Tags: made, about: g, entries: map[string]*service.Entry{}}
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
	t.mu.RLock()
	defer t.mu.RUnlock()
	if e := t.entries[tag]; e != nil {
		return e, nil
	}
	return nil, uid.ErrNotReady
}

// open returns the entry of a tag, and opens the tag if it is closed.
func (t *tags) open(ctx context.Context, tag string) (*service.Entry, error) {
	_, err := t.NextN(ctx, tag, nil) // opens the tag, and draws nothing
	switch {
	case errors.Is(err, segment.ErrUnknownTag), errors.Is(err, segment.ErrTag):
		return nil, fmt.Errorf("%w: %w", service.ErrUnknown, err)
	case err != nil:
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.entries[tag]; e != nil {
		return e, nil
	}
	if len(t.entries) >= t.about.MaxTags { // those of tags that were closed; a new entry is a new instance
		clear(t.entries)
	}
	e := newEntry(&config.Base{Name: tag, Kind: "segment", IDs: t.about.IDs})
	e.Claimer = tagged{t.Tags, tag}
	t.entries[tag] = e
	return e, nil
}

// tagged is one of the tags.
type tagged struct {
	tags *segment.Tags
	tag  string
}

func (t tagged) Claim(ctx context.Context, limit int64) (uid.Run, error) {
	return t.tags.Claim(ctx, t.tag, limit)
}

func (t tagged) TryClaim(limit int64) (uid.Run, error) { return t.tags.TryClaim(t.tag, limit) }
