// Package inlined calls Next and Wait as a service does. A test reads what the compiler
// inlines into it.
package inlined

import (
	"context"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

func Cached(g *uid.Cached) (uid.ID, error) { return g.Next() }

func Segment(g *segment.Generator) (uid.ID, error) { return g.Next() }

func CachedWait(ctx context.Context, g *uid.Cached) (uid.ID, error) { return g.Wait(ctx) }

func SegmentWait(ctx context.Context, g *segment.Generator) (uid.ID, error) { return g.Wait(ctx) }
