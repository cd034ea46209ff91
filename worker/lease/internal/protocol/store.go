package protocol

// An Op is what a [Request] asks for.
type Op int

// The requests. Look and Read change nothing; Insert and Swap are each one atomic write.
const (
	Look   Op = iota + 1 // which numbers are free: some of them, or with Full all
	Read                 // the row of Number
	Insert               // make the row of Number, if there is none; with Fresh, of a number that was never given
	Swap                 // write the row of Number, if its token is Old
)

// Request is a request to the store. Instants are milliseconds since 1970.
type Request struct {
	Op      Op
	Number  int64
	Old     string // Swap: what the token must be
	Token   string // Insert, Swap: what it becomes
	Until   int64  // Insert, Swap: what reserved_until becomes
	Acquire bool   // Insert, Swap: by a new holder
	Release bool   // Swap: the row is free from now on

	// Swap: write only while the store's clock shows a time from Earliest to Latest. A zero Latest is no condition.
	Earliest, Latest int64

	Fresh bool // Insert: make the row of the least number never given, which the answer names
	Full  bool // Look
}

// Answer is what the store says. With Err, a write may have been done, may yet be, or may not.
type Answer struct {
	Err    error
	Now    int64    // Look, Read: the store's clock
	Rows   []Row    // Look: free rows, those with the least Until first; Read: the row, if there is one
	Next   int64    // Look: the least number above all that were ever given
	Held   int64    // Look with Full: how many rows are live
	Done   bool     // Insert, Swap: it was done
	Number int64    // Insert with Fresh: whose row was made; if not Done, the least number never given
	Others []string // Look: other ranges with numbers of this one; for messages only
}

// Row is what the store has about a number.
type Row struct {
	Number int64
	Token  string // of the last write; each write has a token of its own
	Until  int64  // ticks that begin before it may have been stamped
	Live   bool   // it was written within the expiry, and not released
	Holder string // Read, of a live row: the holder and its last sign of life; for messages only
}
