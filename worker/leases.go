package worker

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/uidring/uidring/internal/lease"
)

// LeaseState says whether a number may be taken.
type LeaseState string

// The states of a number.
const (
	Free    LeaseState = "free"    // its holder gave it back, or it was freed
	Held    LeaseState = "held"    // its holder has been heard of within the expiry
	Expired LeaseState = "expired" // its holder has not: it may be taken
)

// LeaseRow is one row of a Leaser's table: one number.
type LeaseRow struct {
	Number        int64      `json:"number"`
	State         LeaseState `json:"state"`
	Host          string     `json:"host"` // of its last holder; see Node
	Port          string     `json:"port"`
	Type          NodeType   `json:"type"`                  // in JSON the number: 1 container, 2 actual
	HeartbeatAt   time.Time  `json:"heartbeat_at,omitzero"` // last sign of life, by the database's clock; zero if free
	ReservedUntil time.Time  `json:"reserved_until"`        // where its next holder starts, or the present if that is later
	Created       time.Time  `json:"created"`               // by the database's clock
}

// Leases returns the rows with the highest numbers, highest first, at most limit
// of them; a limit below 1 is no limit. Whether a holder is alive is judged by this
// Leaser's expiry. It asks db in the ordinary way: a plugin may send it to a
// replica. It does not create the table; without one the error matches ErrNoTable.
func (l *Leaser) Leases(ctx context.Context, limit int) ([]LeaseRow, error) {
	s, err := l.reader()
	if err != nil {
		return nil, err
	}
	query, vars := `SELECT worker_id AS number, host AS host, port AS port, type AS type, heartbeat_at AS heartbeat,
		reserved_until AS reserved, created AS created, `+l.dialect().now+` AS clock
		FROM `+l.quoted()+` WHERE worker_id >= 0 ORDER BY worker_id DESC`, []any(nil)
	if limit > 0 {
		query, vars = query+" LIMIT ?", []any{limit}
	}
	var records []struct {
		Number    int64    `gorm:"column:number"`
		Host      string   `gorm:"column:host"`
		Port      string   `gorm:"column:port"`
		Type      NodeType `gorm:"column:type"`
		Heartbeat int64    `gorm:"column:heartbeat"`
		Reserved  int64    `gorm:"column:reserved"`
		Created   int64    `gorm:"column:created"`
		Clock     int64    `gorm:"column:clock"`
	}
	if err := l.session(ctx).Raw(query, vars...).Scan(&records).Error; err != nil {
		return nil, l.fail(ctx, "list", l.noTable(err))
	}
	rows := make([]LeaseRow, len(records))
	for i, r := range records {
		rows[i] = LeaseRow{
			Number: r.Number, State: Held, Host: r.Host, Port: r.Port, Type: r.Type,
			ReservedUntil: time.UnixMilli(r.Reserved).UTC(), Created: time.UnixMilli(r.Created).UTC(),
		}
		switch {
		case r.Heartbeat == 0:
			rows[i].State = Free
			continue
		case r.Heartbeat <= r.Clock-s.expiry:
			rows[i].State = Expired
		}
		rows[i].HeartbeatAt = time.UnixMilli(r.Heartbeat).UTC()
	}
	return rows, nil
}

// Free gives back a dead holder's number before its time. A number whose holder is
// alive, by this Leaser's expiry, is left alone, with an error that matches
// ErrHeld, unless force is set; that holder then takes another at its next sign of
// life. Either way no id repeats: the next holder starts where the time reserved
// for the last one ends. A number without a row is an error that matches
// ErrNoLease; a free one is none.
func (l *Leaser) Free(ctx context.Context, number int64, force bool) error {
	s, err := l.reader()
	if err != nil {
		return err
	}
	doing, before := fmt.Sprintf("free number %d in", number), ""
	for {
		read := s.do(ctx, lease.Request{Op: lease.Read, Number: number})
		switch {
		case read.Err != nil:
			return l.fail(ctx, doing, l.noTable(read.Err))
		case len(read.Rows) == 0 || number < 0:
			return l.fail(ctx, doing, ErrNoLease)
		case read.Rows[0].Live && !force:
			return l.fail(ctx, doing, fmt.Errorf("%w: by %s, which is within %v", ErrHeld, read.Rows[0].Holder, l.expiry))
		}
		row := read.Rows[0]
		if row.Token == before {
			return l.fail(ctx, doing, fmt.Errorf("%w: the row was not changed", ErrKey))
		}
		before = row.Token
		freed := s.do(ctx, lease.Request{Op: lease.Swap, Number: number, Old: row.Token, Token: rand.Text(), Until: row.Until, Release: true})
		if freed.Err != nil {
			return l.fail(ctx, doing, freed.Err)
		}
		if freed.Done {
			return nil
		}
		// Its holder has written meanwhile: look again whether it is alive.
	}
}

// reader is a store for those who hold nothing.
func (l *Leaser) reader() (*store, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	return l.store(Node{}, 0, time.Now)
}
