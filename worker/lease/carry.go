package lease

import (
	"context"
	"time"

	"github.com/uidring/uidring/worker/lease/internal/protocol"
)

// carry sends a holder's request to the store.
func (k *keeper) carry(ctx context.Context, r protocol.Request) (answer protocol.Answer) {
	store, expiry := k.leaser.store, k.leaser.expiry
	before := k.clock()
	switch r.Op {
	case protocol.Look:
		var view View
		view, answer.Err = store.Look(ctx, k.within, expiry)
		answer.Now, answer.Next, answer.Held = view.Now, max(view.Next, k.within.From), view.Held
		for _, row := range view.Free {
			answer.Rows = append(answer.Rows, known(row, view.Now))
		}
	case protocol.Read:
		var row *Row
		row, answer.Now, answer.Err = store.Read(ctx, r.Number, expiry)
		if row != nil {
			answer.Rows = []protocol.Row{known(*row, answer.Now)}
		}
	case protocol.Insert:
		answer.Done, answer.Err = store.Insert(ctx, k.write(r))
	default:
		answer.Done, answer.Err = store.Swap(ctx, r.Old, k.write(r))
	}
	if answer.Err != nil {
		return protocol.Answer{Err: answer.Err} // ignore the rest
	}
	if r.Op == protocol.Look || r.Op == protocol.Read {
		if answer.Now == 0 { // the store has no clock
			answer.Now = millis(k.clock())
		} else {
			answer.Err = k.compareClocks(before, k.clock(), answer.Now)
		}
	}
	return answer
}

// known is the part of a row that the protocol needs.
func known(row Row, now int64) protocol.Row {
	r := protocol.Row{Number: row.Number, Token: row.Token, Until: row.Until, Live: row.State == StateHeld}
	if r.Live {
		r.Holder = holderOf(row, now)
	}
	return r
}

// write returns the Write of a request.
func (k *keeper) write(r protocol.Request) Write {
	w := Write{Number: r.Number, Token: r.Token, Until: r.Until, Change: Extend, Expiry: k.leaser.expiry}
	switch {
	case r.Release:
		w.Change = Release
	case r.Acquire:
		w.Change, w.Node = Acquire, k.node
	}
	if r.Op == protocol.Insert {
		w.Within, w.Fresh = k.within, r.Fresh
	}
	return w
}

// millis returns t in milliseconds since 1970, rounded up, so that a reservation never
// ends before t.
func millis(t time.Time) int64 {
	if t.IsZero() || t.Unix() < 0 {
		return 0
	}
	if t.Unix() > protocol.MaxInstant/1000 {
		return protocol.MaxInstant
	}
	return t.Add(time.Millisecond - 1).UnixMilli()
}
