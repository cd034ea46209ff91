package leasestore

import (
	"fmt"
	"time"
)

// Row is what a store holds about a number. The protocol needs Number, Token and Until.
type Row struct {
	Number int64
	Token  string // of the last write; every write has a new token
	Until  int64  // in milliseconds since 1970: ticks that begin before it may have been stamped

	State     State
	Node      Node  // the last holder
	Heartbeat int64 // the holder's last heartbeat, in milliseconds since 1970 by the store's clock; 0 if free or unknown
	Created   int64 // in milliseconds since 1970 by the store's clock; 0 if unknown
}

// Node describes a holder for people who read the store. A store returns it as written.
type Node struct {
	Host string // 1 to 64 characters
	Port string // 1 to 64 characters
	Type int    // a lease.NodeType
}

// State says whether a number may be taken.
type State string

// The states of a number.
const (
	StateFree    State = "free"    // the holder gave the number back, or Free did
	StateHeld    State = "held"    // the holder sent a heartbeat within the expiry
	StateExpired State = "expired" // the holder sent none within the expiry: the number may be taken
)

// Write is the new content of a row.
type Write struct {
	Number int64
	Token  string // at most 64 ASCII characters
	Until  int64  // as in Row, in milliseconds since 1970
	Change Change
	Node   Node          // Acquire: the new holder
	Expiry time.Duration // Acquire, Extend: how long the holder counts as alive without another write

	// Only for Insert: the range of the holder's numbers, and whether to make the row of a number
	// that was never given out. Holders with the same Within.From share the record of given
	// numbers. The range of an assigned number is just that number.
	Within Range
	Fresh  bool
}

// Change says what a [Write] does to the liveness of a number.
type Change int

// The changes.
const (
	Acquire Change = iota + 1 // a new holder has the number, and is alive
	Extend                    // the holder is alive
	Release                   // nobody holds the number: it is free at once
)

// Range is the numbers From through To.
type Range struct{ From, To int64 }

// String returns the range as logs show it, such as "0 to 99".
func (r Range) String() string { return fmt.Sprintf("%d to %d", r.From, r.To) }
