package database

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/format"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// errNoLayout is the error of a store that remembers no layout.
var errNoLayout = errors.New("no generator has recorded a layout there yet; the first start, such as that of gen, records the layout that it states, else fleet (for a registry, registry)")

// Remembered returns the layouts that the store remembers.
func (l *Leases) Remembered(ctx context.Context) (format.Layouts, error) {
	found, err := l.remembered(ctx)
	return found, l.InFlags(err)
}

func (l *Leases) remembered(ctx context.Context) (format.Layouts, error) {
	found := format.LayoutAlone(bits.Layout{})
	found.Store = l.Name
	text, stored, err := l.Leaser.Layout(ctx)
	if err == nil && !stored {
		err = errNoLayout
	}
	if err == nil {
		found.Layout, err = bits.ParseLayout(text)
	}
	if err != nil {
		return found, err
	}
	is, err := l.PlanLayout(ctx, found.Layout) // which changes nothing
	found.Numbers, found.Earlier = is.Numbers, is.Earlier
	return found, err
}

// InFlags says how the command's user states a layout, in the error of a store that remembers none.
func (l *Leases) InFlags(err error) error {
	if errors.Is(err, errNoLayout) && !l.at.noFlag {
		return fmt.Errorf("%w. To go on without a record, give --layout", err)
	}
	if unknown, ok := errors.AsType[*lease.UnknownLayoutError](err); ok && unknown.Err == nil {
		state := "give --layout"
		if l.at.noFlag {
			state = `record it by a start that states it, such as "gen --layout registry"`
		}
		return fmt.Errorf("%s has worker numbers, but no record of the layout of their ids: %s. With another layout than theirs, ids can repeat. "+
			"If Java's uid-generator made the ids, docs/migrating.md shows how to find their layout, and which one to use once it has ended", unknown.Store, state)
	}
	return err
}

// FindLayout returns the stated layout, with the numbers of the store that --dsn names. If stated is zero, it returns the
// layouts that the store remembers which the command names, or the file [Default] if it exists, and else fleet. A store
// that was named or found must then remember a layout.
func FindLayout(ctx context.Context, cmd *cobra.Command, stores Stores, stated bits.Layout) (found format.Layouts, err error) {
	is := stated != (bits.Layout{})
	if is && !cmd.Flags().Changed("dsn") {
		return format.LayoutAlone(stated), nil
	}
	if _, err := os.Stat(Default); !Of(cmd, stores).named && errors.Is(err, os.ErrNotExist) {
		return format.LayoutAlone(bits.Fleet()), nil
	}
	err = WithLeases(ctx, cmd, stores, func(open *Leases) (err error) {
		found, err = open.remembered(ctx)
		if is {
			if errors.Is(err, errNoLayout) || errors.Is(err, lease.ErrLayout) {
				err = nil
			}
			remembered := found.Naming(stated)
			found = format.LayoutAlone(stated)
			if remembered.Layout == stated {
				found.Numbers = remembered.Numbers
			}
		}
		if err == nil {
			found.Greatest = open.greatest(ctx)
		}
		return open.InFlags(err)
	})
	return found, err
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
