//go:build linux

package torture

import "time"

// record is a message of a child. Children write them as gobs, several at once.
type record struct {
	Kind    recordKind
	Numbers [4]int64
	Text    string
}

type recordKind byte

const (
	recordIDs    recordKind = iota // goroutine, first id, how many: consecutive ids
	recordGrant                    // attempt, number (-1 is none), from and until in milliseconds
	recordOpen                     // attempt: its generator is open
	recordNone                     // milliseconds that the clock lacks; text: why there is no id for now
	recordClosed                   // text: what Close said, empty for nothing
	recordFatal                    // text: what must not happen
	recordWrite                    // attempt, number, until, change; text: token, blank, the token to replace: a write begins
	recordDone                     // text: token of a write that the store has reported done
	recordRange                    // first id, how many: a range was reserved
	recordReturn                   // first id, end: ids are to be given back
	recordEvent                    // how often; text: an event, as the report names it
)

// Why there is no id for now.
const (
	noneReserved    = "time not reserved" // where the next id would be stamped
	noneLost        = "number lost"       // and no other is held
	noneBorrow      = "borrow limit"
	noneBackward    = "clock back"
	noneFull        = "slots full"
	noneUnavailable = "store unavailable" // the counter's
	noneRewound     = "store rewound"     // the counter's
	noneNarrow      = "column full"       // the counter's
)

// errText is an error's text, empty for nil.
func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// millis returns t in milliseconds since 1970, and 0 for the zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
