package uid

import (
	"context"
	"iter"
)

// Generator makes ids. [Cached], [Default], [Slots], segment.Generator and
// uidclient.Client implement it. A Generator is safe for concurrent use, never
// issues 0, and never issues an id twice.
type Generator interface {
	// Next returns an id, or an error if none may be issued. Some generators wait
	// a short time first: see their Next.
	Next() (ID, error)

	// NextN fills ids and returns how many it filled. If it fills fewer than all, the
	// error is that of Next.
	NextN(ids []ID) (int, error)

	// Wait returns an id. Where Next would fail because no id is ready, Wait blocks
	// until an id is ready or ctx ends.
	Wait(ctx context.Context) (ID, error)

	// WaitN is NextN, but waits as Wait does.
	WaitN(ctx context.Context, ids []ID) (int, error)

	// All returns ids for a range loop, and waits as Wait does. The error that
	// ends the loop comes with id 0.
	All(ctx context.Context) iter.Seq2[ID, error]

	// Close ends every wait, and gives back the worker number or the ids that the
	// generator holds. Later calls return [ErrClosed].
	Close() error

	// Shutdown is Close with the deadline of ctx.
	Shutdown(ctx context.Context) error
}

var (
	_ Generator = (*Cached)(nil)
	_ Generator = (*Default)(nil)
	_ Generator = (*Dealer)(nil)
	_ Generator = (*Slots)(nil)
)

// claims takes at most limit consecutive ids, 1 or more unless it fails.
type claims func(limit int64) (first ID, n int64, err error)

// fillFrom fills ids from claims.
func fillFrom(ids []ID, claim claims) (int, error) {
	n := 0
	for n < len(ids) {
		first, count, err := claim(int64(len(ids) - n))
		if err != nil {
			return n, err
		}
		fill(ids[n:n+int(count)], first)
		n += int(count)
	}
	return n, nil
}

// fill writes consecutive ids. Four at a time, it runs at the speed of the stores
// wherever the compiler happens to place the loop.
func fill(ids []ID, first ID) {
	for len(ids) >= 4 {
		four := (*[4]ID)(ids)
		four[0], four[1], four[2], four[3] = first, first+1, first+2, first+3
		first += 4
		ids = ids[4:]
	}
	for i := range ids {
		ids[i] = first + ID(i)
	}
}
