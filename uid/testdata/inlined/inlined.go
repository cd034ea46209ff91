// Package inlined calls Next as a service does. A test reads what the compiler
// inlines into it.
package inlined

import (
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/uidclient"
)

func Cached(g *uid.Cached) (uid.ID, error) { return g.Next() }

func Segment(g *segment.Counter) (uid.ID, error) { return g.Next() }

func Client(g *uidclient.Client) (uid.ID, error) { return g.Next() }
