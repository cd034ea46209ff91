package gen

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/uid/segment"
)

// counted is a generator of a counter's ids, with the connection that it reserves by.
type counted struct {
	*segment.Generator
	db *database.DB
}

func openSegment(ctx context.Context, cmd *cobra.Command, tag string, logger *slog.Logger) (generator, error) {
	db, err := database.Of(cmd, nil).OpenExisting(ctx)
	if err != nil {
		return nil, err
	}
	store := db.Counters(cmd)
	counter, err := segment.New(ctx, store, tag, segment.Config{Logger: logger})
	if errors.Is(err, segment.ErrUnknownTag) {
		err = fmt.Errorf("%s has no counter in %s; uidring segments create makes it", cli.Printable(tag), store)
	}
	if err != nil {
		return nil, errors.Join(db.Wrap(err), db.Close())
	}
	return &counted{counter, db}, nil
}

// Close returns what was not used.
func (c *counted) Close() error {
	return errors.Join(c.db.Wrap(c.Generator.Close()), c.db.Close())
}
