package gen

import (
	"context"
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/uid/segment"
)

// counted is a generator of a counter's ids, with the connection that it reserves by.
type counted struct {
	*segment.Counter
	counters *database.Counters
}

func openSegment(ctx context.Context, cmd *cobra.Command, stores database.Stores, tag string, logger *slog.Logger) (generator, error) {
	counters, err := database.CountersOf(cmd, stores, false, logger)
	if err != nil {
		return nil, err
	}
	counter, err := segment.New(ctx, counters.Store, tag, segment.Config{Logger: logger})
	if err != nil {
		return nil, errors.Join(counters.Wrap(err), counters.Close())
	}
	return &counted{counter, counters}, nil
}

// Close returns what was not used.
func (c *counted) Close() error {
	return errors.Join(c.counters.Wrap(c.Counter.Close()), c.counters.Close())
}
