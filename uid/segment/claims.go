package segment

import (
	"context"
	"iter"

	"github.com/uidring/uidring/internal/deal"
	"github.com/uidring/uidring/uid"
)

// claims has the methods of a [uid.Generator] that follow from its claims of runs.
type claims struct{ of deal.Claims[uid.ID, uid.Run] }

// Claim returns 1 to limit consecutive ids, as [uid.Generator] says.
func (c claims) Claim(ctx context.Context, limit int64) (uid.Run, error) {
	return c.of.Claim(ctx, limit)
}

// TryClaim returns 1 to limit consecutive ids that are ready, as [uid.Generator] says.
func (c claims) TryClaim(limit int64) (uid.Run, error) { return c.of.TryClaim(limit) }

// NextN is Next for many ids, as [uid.Generator] says.
func (c claims) NextN(ids []uid.ID) (int, error) { return c.of.NextN(ids) }

// Wait is Next, but blocks until ctx ends where Next would fail because no id is ready.
func (c claims) Wait(ctx context.Context) (uid.ID, error) { return c.of.Wait(ctx) }

// WaitN is NextN, but waits as Wait does.
func (c claims) WaitN(ctx context.Context, ids []uid.ID) (int, error) { return c.of.WaitN(ctx, ids) }

// All returns ids without end, for a range loop, as [uid.Generator] says.
func (c claims) All(ctx context.Context) iter.Seq2[uid.ID, error] { return c.of.All(ctx) }
