package uid

import (
	"context"
	"errors"
	"fmt"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/worker/lease"
)

// rememberer is a WorkerSource that knows which layout a generator without one should have. stored
// reports whether a store remembers the layout. An empty layout leaves the choice to the generator.
type rememberer interface {
	Layout(ctx context.Context) (layout string, stored bool, err error)
}

// origin says, for the log, where a layout comes from.
type origin string

const (
	fromConfig  origin = "config"
	fromStore   origin = "store"
	fromDefault origin = "default"
)

// settle starts a generator with the stated layout. If that is zero, the generator has the layout
// that the source's store remembers, or in a new store the source's or [bits.Fleet]. start reports
// an invalid config before it sends a request, so the store is asked only if the config is valid.
func settle[G any](ctx context.Context, source WorkerSource, config interface{ Validate() error }, layout *bits.Layout,
	start func(origin) (G, error),
) (made G, err error) {
	if *layout != (bits.Layout{}) {
		return start(fromConfig)
	}
	from := fromDefault
	*layout = bits.Fleet()
	if asked, ok := source.(rememberer); ok && config.Validate() == nil {
		text, stored, err := asked.Layout(ctx)
		if err != nil {
			return made, err // it names the operation
		}
		if stored {
			from = fromStore
		}
		if text != "" {
			if *layout, err = readLayout(text, source); err != nil {
				return made, err
			}
		}
	}
	made, err = start(from)
	if other, ok := errors.AsType[*lease.LayoutError](err); ok { // another start was faster
		if *layout, err = readLayout(other.Remembered, source); err == nil {
			made, err = start(fromStore)
		}
	}
	return made, err
}

// readLayout reads the layout that a source names.
func readLayout(text string, source WorkerSource) (bits.Layout, error) {
	layout, err := bits.ParseLayout(text)
	if err != nil {
		err = fmt.Errorf("uid: %s does not remember a layout that this version can read; state the layout in the config: %w", nameOf(source), err)
	}
	return layout, err
}

// nameOf returns the name of a source, for logs and errors.
func nameOf(source WorkerSource) string {
	if named, ok := source.(fmt.Stringer); ok {
		return named.String()
	}
	return fmt.Sprintf("%T", source)
}

// layoutText is what a store remembers of a layout. The names of parts do not change ids.
func layoutText(layout bits.Layout) string {
	layout.WorkerParts = ""
	return layout.String()
}
