// Package leaserow has what stores of worker numbers share: how they write a number and its row
// as text, and how they find free numbers.
package leaserow

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/uidring/uidring/worker/lease/leasestore"
)

// Row is the row of a number. Whether the holder is alive, the store knows by other means.
// The zero Row is that of a number before its first write.
type Row struct {
	Token string              `json:"token"`
	Until int64               `json:"reserved_until"`
	Held  bool                `json:"held"` // false once the holder has given the number back
	Host  string              `json:"host"`
	Port  string              `json:"port"`
	Type  leasestore.NodeType `json:"type"`
}

// Parse reads what JSON wrote.
func Parse(text []byte) (r Row, err error) {
	if err = json.Unmarshal(text, &r); err == nil && r.Token == "" {
		err = errors.New("it has no token")
	}
	if err != nil {
		return Row{}, fmt.Errorf("%q, want a row as JSON: %w", text, err)
	}
	return r, nil
}

// JSON writes the row.
func (r Row) JSON() []byte {
	text, _ := json.Marshal(r) // strings and numbers cannot fail
	return text
}

// After returns the row after a write.
func (r Row) After(w leasestore.Write) Row {
	r.Token, r.Until, r.Held = w.Token, w.Until, w.Change != leasestore.Release
	if w.Change == leasestore.Acquire {
		r.Host, r.Port, r.Type = w.Node.Host, w.Node.Port, w.Node.Type
	}
	return r
}

// State judges by the holder's last sign of life, 0 if it gave the number back.
func State(heartbeat, now int64, expiry time.Duration) leasestore.State {
	switch {
	case heartbeat == 0:
		return leasestore.StateFree
	case heartbeat <= now-expiry.Milliseconds():
		return leasestore.StateExpired
	}
	return leasestore.StateHeld
}

// Lease returns the row as package lease reads it.
func (r Row) Lease(number int64, alive bool) leasestore.Row {
	state := leasestore.StateFree
	switch {
	case alive:
		state = leasestore.StateHeld
	case r.Held:
		state = leasestore.StateExpired
	}
	return leasestore.Row{
		Number: number, Token: r.Token, Until: r.Until, State: state,
		Node: leasestore.Node{Host: r.Host, Port: r.Port, Type: r.Type},
	}
}
