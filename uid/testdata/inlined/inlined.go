// Package inlined calls Next as a service does. A test reads what the compiler
// inlines into it.
package inlined

import (
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

func Cached(g *uid.Cached) (uid.ID, error) { return g.Next() }

func Segment(g *segment.Counter) (uid.ID, error) { return g.Next() }
