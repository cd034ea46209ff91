package lease

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

var (
	// ErrLost is matched when the row of a number that was held is someone
	// else's, or gone.
	ErrLost = errors.New("worker: lease lost")

	// ErrRewound is matched, beside ErrLost, when the row says less than its
	// holder had committed, or is gone. No holder does that: the table was
	// restored from a copy, or edited.
	ErrRewound = errors.New("worker: the table has gone back in time")

	// ErrHeld is matched when the one number that is wanted has a live holder.
	ErrHeld = errors.New("worker: number is held")

	// ErrExhausted is matched when every number has a live holder.
	ErrExhausted = errors.New("worker: numbers exhausted")

	// errNotDone is what there is to say of a write that was not done, when
	// nothing stood in its way and the store gave no reason.
	errNotDone = errors.New("worker: the store did not write")
)

// ExhaustedError says that no number is free. It matches ErrExhausted.
type ExhaustedError struct {
	Held  int64 // how many numbers have a live holder
	Next  int64 // the least number that was never given
	Limit int64 // the greatest that the layout has room for
}

func (e *ExhaustedError) Error() string {
	return fmt.Sprintf("%v: %d are held, the next new one would be %d, the largest that the layout allows is %d",
		ErrExhausted, e.Held, e.Next, e.Limit)
}

// Unwrap returns ErrExhausted.
func (e *ExhaustedError) Unwrap() error { return ErrExhausted }

// Config is what a Holder is told. Instants and spans are milliseconds.
type Config struct {
	Limit  int64               // the greatest number that it may hold, from 0
	Exact  int64               // the one number to hold; negative is any
	Window int64               // how far ahead it reserves
	Token  func() string       // makes a token that nobody else makes
	Pick   func(n int64) int64 // picks one of n free numbers, from 0 to n-1
}

// Grant is what a holder owns: the ticks of Number that begin at From or later
// and end at Until or earlier. Nobody else ever stamps them, whatever becomes of
// the lease. The zero Grant is none.
type Grant struct{ Number, From, Until int64 }

// Holder is one holder of at most one number. It is a value: a copy of it is a
// clone of the process. Make one with [New].
type Holder struct {
	config Config
	number int64 // the number held or tried for; negative is none
	held   bool
	grant  Grant   // while held
	token  string  // while held: of the row, as last known
	doubts []doubt // writes to the row that are not known to have been done
	tried  *try    // the last of them, until the row has been read

	read bool  // row and now are what the store showed, and no write was tried since
	row  *Row  // nil is no row
	now  int64 // the store's clock

	used    int64 // Until is to lie Window beyond this
	ahead   int64 // and not below this
	leaving bool
	next    int64 // first instant that was not stamped, when leaving
}

// doubt is a write that may have been done: if the row has its token, it was, and
// the holder's ticks begin at from.
type doubt struct {
	token string
	from  int64
}

// try is a write that had no good answer: the token that it was to replace, which
// is empty for no row, and what the store said.
type try struct {
	old string
	err error
}

// New returns a holder of nothing.
func New(config Config) Holder {
	return Holder{config: config, number: max(config.Exact, -1)}
}

// Grant returns what the holder owns, and whether it owns anything.
func (h *Holder) Grant() (Grant, bool) { return h.grant, h.held }

// Use tells the holder that instants up to used are needed, and that reserving
// as far as ahead would save it further writes.
func (h *Holder) Use(used, ahead int64) {
	h.used, h.ahead = max(h.used, used), max(h.ahead, ahead)
}

// Leave has the holder give its number back. next is the first instant that it
// has not stamped and never will: nothing may be stamped from here on. It reports
// whether there is anything to give back.
func (h *Holder) Leave(next int64) bool {
	h.leaving, h.next = true, next
	return h.held || len(h.doubts) > 0
}

// Next returns what to ask of the store.
func (h *Holder) Next() Request {
	switch {
	case h.number < 0:
		return Request{Op: Look}
	case !h.read:
		return Request{Op: Read, Number: h.number}
	case h.row == nil:
		return Request{Op: Insert, Number: h.number, Token: h.config.Token(), Until: h.target(0), Acquire: true, Fresh: h.config.Exact < 0}
	case h.held && h.leaving:
		until := max(h.grant.From, min(h.next, h.row.Until))
		return Request{Op: Swap, Number: h.number, Old: h.row.Token, Token: h.config.Token(), Until: until, Release: true}
	default:
		return Request{Op: Swap, Number: h.number, Old: h.row.Token, Token: h.config.Token(), Until: h.target(h.row.Until), Acquire: !h.held}
	}
}

// MaxInstant bounds instants, so that sums of them stay in range.
const MaxInstant = 1 << 60

// target is where to reserve to: never less than what is reserved already.
func (h *Holder) target(reserved int64) int64 {
	return max(reserved, min(MaxInstant, max(h.now, h.used)+h.config.Window), min(MaxInstant, h.ahead))
}

// Take tells the holder what came of a request that Next returned. It reports
// whether the round has reached its end: the number is held and, if it was before,
// its grant renewed; or it is given back. With an error, the holder may be asked
// for its next request after a while.
func (h *Holder) Take(request Request, answer Answer) (done bool, err error) {
	switch request.Op {
	case Look:
		return h.looked(answer)
	case Read:
		return h.wasRead(answer)
	default:
		return h.wrote(request, answer), nil
	}
}

// looked chooses a number: one that is free and whose ticks up to now are all
// that was ever stamped, else a new one, else the free one that gets there first.
// The second keeps whoever follows a crash from being held up by what the dead
// had reserved.
func (h *Holder) looked(answer Answer) (bool, error) {
	if answer.Err != nil {
		return false, answer.Err
	}
	if h.leaving {
		return true, nil
	}
	free := answer.Rows
	rested := int64(0)
	for rested < int64(len(free)) && free[rested].Until <= answer.Now {
		rested++
	}
	h.read, h.now = true, answer.Now
	switch {
	case rested > 0:
		row := free[h.config.Pick(rested)]
		h.number, h.row = row.Number, &row
	case answer.Next <= h.config.Limit:
		h.number, h.row = answer.Next, nil
	case len(free) > 0:
		row := free[0]
		h.number, h.row = row.Number, &row
	default:
		h.read = false
		return false, &ExhaustedError{Held: answer.Held, Next: answer.Next, Limit: h.config.Limit}
	}
	return false, nil
}

// wasRead compares the row with what the holder knows. Its token tells who wrote
// it last.
func (h *Holder) wasRead(answer Answer) (bool, error) {
	if answer.Err != nil {
		return false, answer.Err
	}
	h.read, h.now, h.row = true, answer.Now, nil
	if len(answer.Rows) > 0 {
		row := answer.Rows[0]
		h.row = &row
	}
	tried := h.tried
	h.tried = nil
	if i := h.ours(); i >= 0 { // that write was done after all
		acquired := !h.held
		h.confirm(h.row.Token, h.doubts[i].from, h.row.Until)
		done := acquired && !h.leaving
		h.read = !done // the next round is later, and reads anew
		return done, nil
	}
	if h.held && (h.row == nil || h.row.Token != h.token) {
		return h.lost()
	}
	if tried != nil && h.readToken() == tried.old {
		// Nobody else has written. To try again at once would be of no use.
		h.read = false
		return false, tried.err
	}
	if h.held {
		return false, nil
	}
	return h.missed()
}

// readToken is the token of the row that was read, empty for no row.
func (h *Holder) readToken() string {
	if h.row == nil {
		return ""
	}
	return h.row.Token
}

// ours returns which write in doubt the row's token is of, or -1.
func (h *Holder) ours() int {
	if h.row == nil {
		return -1
	}
	return slices.IndexFunc(h.doubts, func(d doubt) bool { return d.token == h.row.Token })
}

// lost drops what was held. The ticks that were granted remain this holder's,
// but a row that is someone else's is no place to go on from.
func (h *Holder) lost() (bool, error) {
	err := fmt.Errorf("%w: number %d has a new holder", ErrLost, h.number)
	switch {
	case h.row == nil:
		err = fmt.Errorf("%w: %w: the row of number %d is gone", ErrLost, ErrRewound, h.number)
	case h.row.Until < h.grant.Until:
		err = fmt.Errorf("%w: %w: number %d is reserved until %s, and was until %s", ErrLost, ErrRewound, h.number, instant(h.row.Until), instant(h.grant.Until))
	}
	leaving := h.leaving
	*h = Holder{config: h.config, number: max(h.config.Exact, -1), used: h.used, ahead: h.ahead, leaving: leaving, next: h.next}
	if leaving {
		return true, nil
	}
	return false, err
}

func instant(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339Nano) }

// missed goes on when the number tried for is not held: somebody else was faster,
// or it has not been tried for yet.
func (h *Holder) missed() (bool, error) {
	switch {
	case h.leaving:
		return true, nil
	case h.config.Exact < 0:
		h.number, h.read, h.doubts = -1, false, nil
	case h.row != nil && h.row.Live:
		h.read = false
		return false, fmt.Errorf("%w: %d, by %s", ErrHeld, h.number, h.row.Holder)
	}
	return false, nil
}

// wrote takes the answer to a write. One that is not known to have been done is
// in doubt until the row has been read again: its answer, or the write itself,
// may still be under way.
func (h *Holder) wrote(request Request, answer Answer) (done bool) {
	from := h.grant.From
	if !h.held && h.row != nil {
		from = h.row.Until
	}
	h.read = false
	if answer.Err != nil || !answer.Done {
		h.doubts = append(slices.Clone(h.doubts), doubt{request.Token, from})
		h.tried = &try{request.Old, cmp.Or(answer.Err, errNotDone)}
		return false
	}
	if request.Release {
		h.held, h.grant, h.number, h.doubts = false, Grant{}, -1, nil
		return true
	}
	h.confirm(request.Token, from, request.Until)
	return !h.leaving
}

// confirm makes a write known to have been done the holder's own.
func (h *Holder) confirm(token string, from, until int64) {
	h.held, h.token, h.doubts = true, token, nil
	h.grant = Grant{Number: h.number, From: from, Until: max(h.grant.Until, until)}
}
