package service

import (
	"context"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// Parts is what an id carries, by its layout.
type Parts struct {
	bits.Parts
	Layout bits.Layout

	// Named are the parts of the worker number, if the layout names any.
	Named []bits.WorkerPart
}

// Parse takes an id of the named generator apart, for a caller that may draw from it.
// It returns nil for an id of a counter, which carries nothing.
func (s *Service) Parse(ctx context.Context, caller Caller, name string, id uid.ID) (*Parts, error) {
	if id <= 0 {
		return nil, Invalid("the id is %d, want 1 to 9223372036854775807", int64(id))
	}
	entry, err := s.Find(ctx, caller, name, 1)
	if err != nil || entry.Layout == nil {
		return nil, err
	}
	layout := *entry.Layout
	allocator, err := bits.NewAllocator(layout)
	if err != nil {
		return nil, err
	}
	parts := &Parts{Layout: layout}
	if parts.Parts, err = allocator.Parse(int64(id)); err != nil {
		return nil, Invalid("the id is %d, want one of layout %v, which has %d bits", id, layout, layout.Bits())
	}
	if layout.WorkerParts != "" {
		parts.Named, err = allocator.SplitWorker(parts.Worker)
	}
	return parts, err
}
