package generators

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/uidring/uidring/cmd/uidringd/internal/config"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

// tags serves the counters of a store whose tags match a pattern.
type tags struct {
	*segment.Tags
	about   *config.Tags
	entries *lru.Cache[string, *service.Entry] // of tags that were opened, also of those that were closed since
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
	case errors.Is(err, segment.ErrUnknownTag):
		return nil, fmt.Errorf("%w: %w", service.ErrUnknown, err)
	case err != nil:
		return nil, err
	}
	e := newEntry(&config.Base{Name: tag, Kind: "segment", IDs: t.about.IDs})
	e.Claimer = tagged{t.Tags, tag}
	if before, found, _ := t.entries.PeekOrAdd(tag, e); found {
		return before, nil
	}
	return e, nil
}

type tagged struct {
	tags *segment.Tags
	tag  string
}

func (t tagged) Claim(ctx context.Context, limit int64) (uid.Run, error) {
	return t.tags.Claim(ctx, t.tag, limit)
}

func (t tagged) TryClaim(limit int64) (uid.Run, error) { return t.tags.TryClaim(t.tag, limit) }
