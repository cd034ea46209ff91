package rpc

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/cmd/uidringd/internal/gate"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

const (
	small = 500       // an answer of so many ids does not count
	most  = 1_000_000 // ids in answers at once; 30 bytes each
)

// large bounds the ids in answers of Next, each of which is in memory as a whole until its
// client has read it. One address may have half of them; its only answer may have more.
type large struct{ ids atomic.Int64 }

// enter counts the ids of an answer, until leave. The error is a [service.Error].
func (l *large) enter(ctx context.Context, n int64) error {
	if n <= small || n > most { // the service refuses more
		return nil
	}
	clients, _ := gate.From(ctx).Clients()
	all, here := l.ids.Add(n), clients.IDs.Add(n)
	if all > most || here > most/2 && here > n {
		l.leave(ctx, n)
		return &service.Error{Kind: service.Unavailable, Detail: "too many large answers are on their way to clients", Retry: time.Second}
	}
	callOf(ctx).held = n
	return nil
}

func (l *large) leave(ctx context.Context, n int64) {
	clients, _ := gate.From(ctx).Clients()
	clients.IDs.Add(-n)
	l.ids.Add(-n)
}
