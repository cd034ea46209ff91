package service

import (
	"context"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/format"
	"github.com/uidring/uidring/uid"
)

// Parts is what an id carries, by its layout.
type Parts struct {
	bits.Parts
	Layout bits.Layout
	Doubt  string // why the id hardly has the layout; empty if nothing speaks against it

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
	ids, err := entry.read(ctx)
	if err != nil {
		return nil, err
	}
	index, doubt := ids.Find(int64(id))
	allocator := ids.Allocators[index]
	parts := &Parts{Layout: allocator.Layout(), Doubt: doubt}
	if parts.Parts, err = allocator.Parse(int64(id)); err != nil {
		return nil, Invalid("the id is %d, want one of layout %v, which has %d bits", id, parts.Layout, parts.Layout.Bits())
	}
	if parts.Layout.WorkerParts != "" {
		parts.Named, err = allocator.SplitWorker(parts.Worker)
	}
	return parts, err
}

// The layouts of a store change rarely, so parse asks for them once in freshFor, and waits patience for the answer.
const (
	freshFor = 10 * time.Second
	patience = 2 * time.Second
)

// reader reads ids until the store has to be asked again.
type reader struct {
	*format.Reader
	until time.Time
}

// read returns what reads the generator's ids. If the store does not answer, that is what it said before or, if it never
// answered, the layout of the generator alone.
func (e *Entry) read(ctx context.Context) (*format.Reader, error) {
	last := e.reader.Load()
	if last != nil && time.Now().Before(last.until) {
		return last.Reader, nil
	}
	next, layouts := &reader{until: time.Now().Add(freshFor)}, format.LayoutAlone(*e.Layout)
	if e.Layouts != nil {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience) // the answer is for other callers too
		defer cancel()
		switch stored, err := e.Layouts(limited); {
		case err == nil:
			layouts = stored.Naming(*e.Layout)
		case last != nil:
			next.Reader = last.Reader
		}
	}
	if next.Reader == nil {
		var err error
		if next.Reader, err = format.NewReader(layouts); err != nil {
			return nil, err
		}
	}
	e.reader.Store(next)
	return next.Reader, nil
}
