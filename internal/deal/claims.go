package deal

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/ringbuffer"
)

// A Claim returns 1 to limit consecutive ids; limit is 1 or more. If no id is ready, how
// decides. Any number of goroutines may call it.
type Claim func(ctx context.Context, limit int64, how How) (ringbuffer.Run, error)

// How says what a Claim does if no id is ready.
type How uint8

// What a Claim does.
const (
	Next How = iota // what Next of the generator does
	Wait            // block until an id is ready or ctx ends
	Try             // return ErrNotReady where Wait would block
)

// run is the Run of package uid.
type run[ID ~int64] interface {
	~struct {
		First ID
		N     int64
	}
}

// Claims has the methods of a uid.Generator that follow from its [Claim]: Claim, TryClaim,
// NextN, Wait, WaitN and All. uid.Generator explains them.
type Claims[ID ~int64, Run run[ID]] struct {
	claim Claim
	ring  *ringbuffer.Ring // that claim takes from; may be nil
}

// NewClaims returns the methods that follow from claim.
func NewClaims[ID ~int64, Run run[ID]](claim Claim) Claims[ID, Run] {
	return Claims[ID, Run]{claim: claim}
}

// ClaimsOf returns the methods that follow from the claims of a dealer.
func ClaimsOf[ID ~int64, Run run[ID]](d *Dealer) Claims[ID, Run] {
	return Claims[ID, Run]{d.Claim, d.ring}
}

func runOf[ID ~int64, Run run[ID]](claimed ringbuffer.Run, err error) (Run, error) {
	return Run(struct {
		First ID
		N     int64
	}{ID(claimed.First), claimed.N}), err
}

// Claim claims ids, and waits as Wait does.
func (c Claims[ID, Run]) Claim(ctx context.Context, limit int64) (Run, error) {
	return runOf[ID, Run](c.limited(ctx, limit, Wait))
}

// TryClaim claims ids that are ready.
func (c Claims[ID, Run]) TryClaim(limit int64) (Run, error) {
	return runOf[ID, Run](c.limited(context.Background(), limit, Try))
}

func (c Claims[ID, Run]) limited(ctx context.Context, limit int64, how How) (ringbuffer.Run, error) {
	if limit < 1 {
		return ringbuffer.Run{}, fmt.Errorf("uid: %w: Claim: limit is %d, want 1 or more", invalid.ErrConfig, limit)
	}
	return c.claim(ctx, limit, how)
}

// NextN fills ids as Next does.
func (c Claims[ID, Run]) NextN(ids []ID) (int, error) {
	return c.Fill(context.Background(), ids, Next)
}

// Wait returns an id, and blocks until one is ready.
func (c Claims[ID, Run]) Wait(ctx context.Context) (ID, error) {
	if c.ring != nil { // fewer calls than a claim
		if id, _ := c.ring.TryTake(); id != 0 {
			return ID(id), nil
		}
	}
	run, err := c.claim(ctx, 1, Wait)
	return ID(run.First), err
}

// WaitN fills ids as Wait does.
func (c Claims[ID, Run]) WaitN(ctx context.Context, ids []ID) (int, error) {
	return c.Fill(ctx, ids, Wait)
}

// Fill fills ids, and returns how many it has filled. If none is ready, how decides.
func (c Claims[ID, Run]) Fill(ctx context.Context, ids []ID, how How) (int, error) {
	n := 0
	if c.ring != nil { // fewer calls than a claim
		run := c.ring.TakeRun(int64(len(ids)))
		n = int(run.N)
		Fill(ids[:n], ID(run.First))
	}
	for n < len(ids) {
		run, err := c.claim(ctx, int64(len(ids)-n), how)
		if err != nil {
			return n, err
		}
		Fill(ids[n:n+int(run.N)], ID(run.First))
		n += int(run.N)
	}
	return n, nil
}

// Fill writes consecutive ids. Sixteen at a time, it runs at the speed of the stores.
func Fill[ID ~int64](ids []ID, first ID) {
	for ; len(ids) >= 16; first, ids = first+16, ids[16:] {
		to := (*[16]ID)(ids)
		to[0], to[1], to[2], to[3] = first, first+1, first+2, first+3
		to[4], to[5], to[6], to[7] = first+4, first+5, first+6, first+7
		to[8], to[9], to[10], to[11] = first+8, first+9, first+10, first+11
		to[12], to[13], to[14], to[15] = first+12, first+13, first+14, first+15
	}
	for i := range ids {
		ids[i] = first + ID(i)
	}
}

const (
	mostAhead = 1024             // ids that a loop claims at once, at most
	aheadFor  = time.Millisecond // for how long a loop's claim is meant to last
)

// All returns ids without end. It claims 1, 2, 4, … up to 1,024 ids at once, but no more
// than the body has used in a millisecond.
func (c Claims[ID, Run]) All(ctx context.Context) iter.Seq2[ID, error] {
	return func(yield func(ID, error) bool) {
		limit := int64(1)
		for {
			began := time.Now()
			if ctx.Err() != nil {
				yield(0, WaitError(ctx))
				return
			}
			run, err := c.claim(ctx, limit, Wait)
			if err != nil {
				yield(0, err)
				return
			}
			for id, end := run.First, run.First+run.N; id < end; id++ {
				if !yield(ID(id), nil) {
					return
				}
			}
			if time.Since(began) < aheadFor {
				limit = min(2*limit, mostAhead)
			} else {
				limit = max(limit/2, 1)
			}
		}
	}
}
