package database

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// errNoLayout is the error of a store that remembers no layout.
var errNoLayout = errors.New("no generator has recorded a layout there yet: give --layout")

// Remembered returns the layout that the store remembers.
func (l *Leases) Remembered(ctx context.Context) (bits.Layout, error) {
	text, stored, err := l.Leaser.Layout(ctx)
	if err != nil {
		return bits.Layout{}, InFlags(err)
	}
	if !stored {
		return bits.Layout{}, errNoLayout
	}
	return bits.ParseLayout(text)
}

// InFlags names the flag in the error of a store that has numbers but remembers no layout.
func InFlags(err error) error {
	if unknown, ok := errors.AsType[*lease.UnknownLayoutError](err); ok && unknown.Err == nil {
		return fmt.Errorf("%s has worker numbers, but no record of the layout of their ids: give --layout. "+
			"If Java's uid-generator made the ids, docs/migrating.md shows how to find its widths and epoch", unknown.Store)
	}
	return err
}

// Found is the layout of ids that a command reads.
type Found struct {
	Layout   bits.Layout
	Greatest int64 // worker number that was given; -1 if that is not known
}

// FindLayout returns the stated layout. If that is zero, it returns the one that the store remembers which the command
// names, or the file [Default] if it exists, and else fleet. A store that was named or found must remember a layout.
func FindLayout(ctx context.Context, cmd *cobra.Command, stores Stores, stated bits.Layout) (Found, error) {
	if stated != (bits.Layout{}) {
		return Found{stated, -1}, nil
	}
	dsn := Of(cmd, stores)
	if _, err := os.Stat(Default); !dsn.named && errors.Is(err, os.ErrNotExist) {
		return Found{bits.Fleet(), -1}, nil
	}
	dsn.Existing = true
	open, err := dsn.Leases(ctx, lease.Config{})
	if err != nil {
		return Found{}, err
	}
	found := Found{}
	if found.Layout, err = open.Remembered(ctx); err == nil {
		found.Greatest = open.greatest(ctx)
	}
	return found, errors.Join(open.Wrap(err), open.Close())
}

// A Layouter says which layout a generator without one should have.
type Layouter interface {
	Layout(ctx context.Context) (layout string, stored bool, err error)
}

// Layouts returns what knows the layout: the leases, or the registry of an SQL database.
func (l *Leases) Layouts(registry bool, logger *slog.Logger) Layouter {
	if registry && l.DB != nil {
		return worker.NewRegistry(l.DB, worker.RegistryConfig{Logger: logger})
	}
	return l.Leaser
}

// greatest returns the greatest worker number that was given, as far as rows show it, and -1 if that is not known.
func (l *Leases) greatest(ctx context.Context) int64 {
	greatest := int64(-1)
	if leases, err := l.Leases(ctx, 1); err == nil && len(leases) > 0 {
		greatest = leases[0].Number
	}
	if l.DB == nil {
		return greatest
	}
	if nodes, err := worker.NewRegistry(l.DB, worker.RegistryConfig{}).Nodes(ctx, 1); err == nil && len(nodes) > 0 {
		greatest = max(greatest, nodes[0].ID)
	}
	return greatest
}

// LayoutFlag adds --layout, and --dsn, to a command whose layout FindLayout finds.
func LayoutFlag(cmd *cobra.Command, stores Stores, layout *bits.Layout, usage string) {
	cli.LayoutFlag(cmd, layout, usage, "the one that the database remembers, else fleet")
	Flag(cmd, stores)
}
