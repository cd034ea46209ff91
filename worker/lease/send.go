package lease

import (
	"context"
	"fmt"
	"time"

	"github.com/uidring/uidring/worker/lease/internal/protocol"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// send changes nothing of the keeper, which may have given up the request.
func (k *keeper) send(ctx context.Context, r protocol.Request) (answer protocol.Answer, err error) {
	store, expiry := k.leaser.store, k.leaser.config.Expiry
	switch r.Op {
	case protocol.Look:
		var view leasestore.View
		view, err = store.Look(ctx, k.within, r.Full, expiry)
		answer = protocol.Answer{Now: view.Now, Next: view.Next, Held: view.Held}
		for _, row := range view.Free {
			answer.Rows = append(answer.Rows, known(row, view.Now))
		}
		for _, other := range view.Others {
			answer.Others = append(answer.Others, other.String())
		}
	case protocol.Read:
		var row *leasestore.Row
		row, answer.Now, err = store.Read(ctx, r.Number, expiry)
		if row != nil {
			answer.Rows = []protocol.Row{known(*row, answer.Now)}
		}
	case protocol.Insert:
		answer.Number, answer.Done, err = store.Insert(ctx, k.write(r))
		if n := answer.Number; err == nil && answer.Done && r.Fresh && (n < k.within.From || n > k.within.To) {
			err = fmt.Errorf("%s inserted number %d, want one from %d to %d", store, n, k.within.From, k.within.To)
		}
	default:
		answer.Done, err = store.Swap(ctx, r.Old, k.write(r))
	}
	return answer, err
}

func known(row leasestore.Row, now int64) protocol.Row {
	r := protocol.Row{Number: row.Number, Token: row.Token, Until: row.Until, Live: row.State == leasestore.StateHeld}
	if r.Live {
		r.Holder = holderOf(row, now)
	}
	return r
}

func (k *keeper) write(r protocol.Request) leasestore.Write {
	w := leasestore.Write{Number: r.Number, Token: r.Token, Until: r.Until, Change: leasestore.Extend, Expiry: k.leaser.config.Expiry, Earliest: r.Earliest, Latest: r.Latest}
	switch {
	case r.Release:
		w.Change = leasestore.Release
	case r.Acquire:
		w.Change, w.Node = leasestore.Acquire, k.node
	}
	if r.Op == protocol.Insert {
		w.Within, w.Chosen, w.Fresh = k.within, k.leaser.chosen, r.Fresh
	}
	return w
}

// millis rounds up, so that a reservation never ends before t.
func millis(t time.Time) int64 {
	if t.IsZero() || t.Unix() < 0 {
		return 0
	}
	if t.Unix() > protocol.MaxInstant/1000 {
		return protocol.MaxInstant
	}
	return t.Add(time.Millisecond - 1).UnixMilli()
}
