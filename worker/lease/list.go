package lease

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/uidring/uidring/worker/lease/leasestore"
)

// State says whether a number may be taken.
type State = leasestore.State

// These are the states of a number.
const (
	StateFree    = leasestore.StateFree    // the holder gave the number back, or an operator freed it
	StateHeld    = leasestore.StateHeld    // the holder sent a heartbeat within the expiry
	StateExpired = leasestore.StateExpired // no heartbeat within the expiry: the number may be taken
)

// Info describes one number in a store, for operators.
type Info struct {
	Number        int64     `json:"number"`
	State         State     `json:"state"`
	Host          string    `json:"host"` // the last holder's host; see Node
	Port          string    `json:"port"`
	PID           int       `json:"pid,omitzero"`          // the process id in Port, see Node.PID
	Type          NodeType  `json:"type"`                  // in JSON, a number: 1 for a container, 2 for any other process
	HeartbeatAt   time.Time `json:"heartbeat_at,omitzero"` // last heartbeat, by the store's clock; zero if free or unknown
	ReservedUntil time.Time `json:"reserved_until"`        // no id of the number's next holder has an earlier time
	Created       time.Time `json:"created,omitzero"`      // by the store's clock; zero if unknown
}

// Leases returns up to limit rows with the highest numbers, highest first; a limit below 1 means no
// limit. Where the store judges holders by their heartbeats, this Leaser's Expiry decides whether a
// holder is alive. Leases creates nothing: if a table is missing, it returns the store's error.
func (l *Leaser) Leases(ctx context.Context, limit int) ([]Info, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	rows, err := l.store.List(ctx, limit, l.config.Expiry)
	if err != nil {
		return nil, l.fail(ctx, "list", err)
	}
	infos := make([]Info, len(rows))
	for i, row := range rows {
		infos[i] = Info{
			Number: row.Number, State: row.State, Host: row.Node.Host, Port: row.Node.Port,
			PID: row.Node.PID(), Type: row.Node.Type,
			HeartbeatAt: moment(row.Heartbeat), ReservedUntil: time.UnixMilli(row.Until).UTC(), Created: moment(row.Created),
		}
	}
	return infos, nil
}

func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// Free frees the number of a holder that counts as dead under this Leaser's Expiry, so that Leasers
// with a longer Expiry may take it, too. If the holder is alive, the error matches ErrHeld; see
// [Leaser.Revoke]. If the number has no row, the error matches ErrNoLease; if it is already free,
// Free returns nil.
func (l *Leaser) Free(ctx context.Context, number int64) error { return l.free(ctx, number, false) }

// Revoke is like Free, but frees a number even if its holder is alive. At its next heartbeat, the
// holder takes another number or, with an Assigner, the same one again unless it has a new holder.
// No id repeats.
func (l *Leaser) Revoke(ctx context.Context, number int64) error { return l.free(ctx, number, true) }

func (l *Leaser) free(ctx context.Context, number int64, force bool) error {
	if err := l.check(); err != nil {
		return err
	}
	doing, before := fmt.Sprintf("free number %d in", number), ""
	for {
		row, now, err := l.store.Read(ctx, number, l.config.Expiry)
		switch {
		case err != nil:
			return l.fail(ctx, doing, err)
		case row == nil || number < 0:
			return l.fail(ctx, doing, ErrNoLease)
		case row.State == leasestore.StateHeld && !force:
			return l.fail(ctx, doing, fmt.Errorf("%w: by %s; it becomes free after %v without a heartbeat", ErrHeld, holderOf(*row, now), l.config.Expiry))
		case row.Token == before:
			return l.fail(ctx, doing, errors.New("the store did not change the row"))
		}
		before = row.Token
		done, err := l.store.Swap(ctx, row.Token, leasestore.Write{Number: number, Token: rand.Text(), Until: row.Until, Change: leasestore.Release})
		if err != nil {
			return l.fail(ctx, doing, err)
		}
		if done {
			return nil
		}
		// The holder has written meanwhile: check again whether it is alive.
	}
}

func holderOf(row leasestore.Row, now int64) string {
	text := fmt.Sprintf("host %q, port %q", row.Node.Host, row.Node.Port)
	if pid := row.Node.PID(); pid > 0 {
		text = fmt.Sprintf("host %q, process %d", row.Node.Host, pid)
	}
	if now > 0 && row.Heartbeat > 0 {
		text += fmt.Sprintf(", last heartbeat %v ago", time.Duration(now-row.Heartbeat)*time.Millisecond)
	}
	return text
}
