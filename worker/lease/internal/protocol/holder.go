package protocol

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Config configures a Holder. Instants and durations are in milliseconds.
type Config struct {
	Limit  int64               // the greatest number that it may hold, from 0
	Exact  int64               // the one number to hold; negative is any
	Fresh  bool                // hold only a number that was never given
	Window int64               // how far ahead it reserves
	Token  func() string       // makes a token that nobody else makes
	Pick   func(n int64) int64 // picks one of n free numbers, from 0 to n-1
}

// Owned is what a holder owns: the ticks of Number that begin at From or later
// and end at Until or earlier. The zero Owned is none.
type Owned struct{ Number, From, Until int64 }

// Holder is one holder of at most one number. A copy of it is a clone of the process.
type Holder struct {
	config Config
	number int64  // the number held or tried for; negative is none
	rival  string // the token of the live holder of the exact number, when it was read last
	beaten string // the token that the last takeover named in vain, because another holder was faster
	fresh  bool   // without a number: the next request is an Insert with Fresh
	full   bool   // without a number: nothing is new, so that the next look is full
	others []Row  // without a number: rows of the last look, to try one after another
	beyond int64  // without a number: the next new number, as an Insert with Fresh that made no row reported it
	held   bool
	owned  Owned   // while held
	token  string  // while held: of the row, as last known
	doubts []doubt // the last writes to the row that are not known to have been done
	tried  *try    // the last of them, until the row has been read

	read bool  // row and now are what the store showed, and no write was tried since
	row  *Row  // nil is no row
	now  int64 // the store's clock, as it was read or is expected to be

	expects  bool  // nothing is known to be wrong: the next request may renew without a read
	earliest int64 // then the bounds of the store's clock, as of a Request
	latest   int64

	used    int64 // Until is to lie Window beyond this
	ahead   int64 // and not below this
	leaving bool
	next    int64 // first instant that was not stamped, when leaving
}

// doubt is a write that may have been done; the holder's ticks then begin at from.
type doubt struct {
	token string
	from  int64
}

// maxDoubts is how many writes in doubt a holder remembers, as the package documentation argues.
const maxDoubts = 64

// try is a write without a good answer, and the store's error.
type try struct {
	old string // the token that it would replace; empty is no row
	err error
}

// New returns a holder of nothing.
func New(config Config) Holder {
	return Holder{config: config, number: max(config.Exact, -1)}
}

// Owns returns what the holder owns, and whether it owns anything.
func (h *Holder) Owns() (Owned, bool) { return h.owned, h.held }

// Use says that instants up to used are needed. Reserving up to ahead saves further writes.
func (h *Holder) Use(used, ahead int64) {
	h.used, h.ahead = max(h.used, used), max(h.ahead, ahead)
}

// Expect says that the next renewal need not read first, if no write is in doubt. The store's clock is expected to show
// now. Where that is not certain, the write tests it by bounds, which are those of a Request.
func (h *Holder) Expect(now, earliest, latest int64) {
	if h.held && len(h.doubts) == 0 {
		h.expects, h.now, h.earliest, h.latest = true, now, earliest, latest
	}
}

// Leave makes the holder give its number back: stamp nothing from next on. It reports
// whether there is anything to give back.
func (h *Holder) Leave(next int64) bool {
	h.leaving, h.next = true, next
	return h.held || len(h.doubts) > 0
}

// Next returns what to ask of the store.
func (h *Holder) Next() Request {
	switch {
	case h.number < 0 && h.fresh && !h.leaving:
		return Request{Op: Insert, Number: -1, Token: h.config.Token(), Until: h.target(0), Acquire: true, Fresh: true}
	case h.number < 0:
		return Request{Op: Look, Full: h.full}
	case h.expects && !h.leaving:
		return Request{Op: Swap, Number: h.number, Old: h.token, Token: h.config.Token(), Until: h.target(h.owned.Until), Earliest: h.earliest, Latest: h.latest}
	case !h.read:
		return Request{Op: Read, Number: h.number}
	case h.row == nil:
		return Request{Op: Insert, Number: h.number, Token: h.config.Token(), Until: h.target(0), Acquire: true}
	case h.held && h.leaving:
		until := max(h.owned.From, min(h.next, h.row.Until))
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

// Take tells the holder what the store replied to a request of Next. It reports
// whether the round is complete: the number is held, and renewed if it was held
// before, or the number is given back. After an error, call Next again later.
func (h *Holder) Take(request Request, answer Answer) (done bool, err error) {
	switch {
	case request.Fresh:
		return h.insertedFresh(request, answer)
	case request.Op == Look:
		return h.choose(answer)
	case request.Op == Read:
		return h.compare(answer)
	default:
		return h.settle(request, answer), nil
	}
}

// soon lets a process that restarts within one tick have its number again.
const soon = 1000

// choose picks a number, as the package documentation says. A start takes a new number rather than wait for
// time that a crashed holder had reserved.
func (h *Holder) choose(answer Answer) (bool, error) {
	if answer.Err != nil {
		return false, answer.Err
	}
	if h.leaving {
		return true, nil
	}
	full := h.full
	h.now, h.full, h.others = answer.Now, false, nil
	free := answer.Rows
	if h.beaten != "" && slices.ContainsFunc(free, func(r Row) bool { return r.Token == h.beaten }) {
		h.beaten = "" // nobody was faster: the store does not write
		return false, ErrNotDone
	}
	latest := answer.Now
	switch {
	case h.config.Fresh:
		h.fresh = true
		return false, nil
	case len(free) > 0 && free[0].Until <= answer.Now:
	case len(free) > 0 && free[0].Until <= answer.Now+soon:
		latest += soon
	case !full && answer.Next <= h.config.Limit:
		h.fresh = true
		return false, nil
	case !full:
		h.full = true
		return false, nil
	case len(free) == 0:
		return false, &Exhausted{Next: max(answer.Next, h.beyond), Max: h.config.Limit, Held: answer.Held}
	default:
		latest = free[0].Until + h.config.Window/16 // so that starts at the same time do not all take one number
	}
	near := int64(0)
	for near < int64(len(free)) && free[near].Until <= latest {
		near++
	}
	for rows := slices.Clone(free[:near]); len(rows) > 0 && len(h.others) < maxTries; {
		i := int(h.config.Pick(int64(len(rows))))
		h.others = append(h.others, rows[i])
		rows = slices.Delete(rows, i, i+1)
	}
	h.tryNext()
	return false, nil
}

// maxTries is how many rows of one look a start tries to take. Later, most of them are gone.
const maxTries = 4

// tryNext tries for the next row of the last look. The row may be old by now. That is no danger:
// a takeover, however late, names the row's token.
func (h *Holder) tryNext() {
	row := h.others[0]
	h.number, h.row, h.read, h.others = row.Number, &row, true, h.others[1:]
}

// insertedFresh processes the outcome of an Insert with Fresh.
func (h *Holder) insertedFresh(request Request, answer Answer) (bool, error) {
	h.fresh = false
	switch {
	case answer.Err != nil:
		return false, answer.Err
	case answer.Done:
		h.number = answer.Number
		h.confirm(request.Token, 0, request.Until)
		return !h.leaving, nil
	case h.leaving:
		return true, nil
	case h.config.Fresh:
		return false, &Exhausted{Next: answer.Number, Max: h.config.Limit}
	}
	h.full, h.beyond = true, answer.Number
	return false, nil
}

// compare checks the row against what the holder knows.
func (h *Holder) compare(answer Answer) (bool, error) {
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
		// Nobody else has written: retrying at once would not help.
		h.read = false
		return false, tried.err
	}
	if h.held {
		return false, nil
	}
	return h.tryAnother()
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

// lost drops the number. Granted ticks remain this holder's.
func (h *Holder) lost() (bool, error) {
	err := fmt.Errorf("%w: number %d has a new holder", ErrLost, h.number)
	switch {
	case h.row == nil:
		err = backInTime(fmt.Sprintf("the row of number %d is gone", h.number))
	case h.row.Until < h.owned.Until:
		err = backInTime(fmt.Sprintf("number %d is reserved until %s, want at least %s, as before", h.number, instant(h.row.Until), instant(h.owned.Until)))
	}
	leaving := h.leaving
	used, ahead, next := h.used, h.ahead, h.next
	*h = New(h.config)
	h.used, h.ahead, h.leaving, h.next = used, ahead, leaving, next
	if leaving {
		return true, nil
	}
	return false, err
}

// backInTime matches ErrLost and ErrRewound.
type backInTime string

func (b backInTime) Error() string { return ErrRewound.Error() + ": " + string(b) }

func (b backInTime) Is(target error) bool { return target == ErrLost || target == ErrRewound }

func instant(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339Nano) }

// tryAnother chooses the next step if the wanted number is not held.
func (h *Holder) tryAnother() (bool, error) {
	switch {
	case h.leaving:
		return true, nil
	case h.config.Exact < 0:
		h.number, h.read, h.doubts = -1, false, nil
	case h.row != nil && h.row.Live:
		silent := h.rival == "" || h.rival == h.row.Token
		h.read, h.rival = false, h.row.Token
		return false, &HeldError{h.number, h.row.Holder, silent}
	}
	return false, nil
}

// settle processes the outcome of a write. A write without an answer is in doubt.
func (h *Holder) settle(request Request, answer Answer) (done bool) {
	from := h.owned.From
	if !h.held && h.row != nil {
		from = h.row.Until
	}
	expected := h.expects
	h.read, h.expects = false, false
	if request.Acquire && h.config.Exact < 0 && answer.Err == nil && !answer.Done {
		// Try for another number at once. If the write was done all the same, its row expires.
		h.number, h.doubts, h.beaten = -1, nil, request.Old
		if len(h.others) > 0 && !h.leaving {
			h.tryNext()
		}
		return h.leaving
	}
	if answer.Err != nil || !answer.Done {
		remembered := h.doubts[max(0, len(h.doubts)+1-maxDoubts):]
		h.doubts = append(slices.Clone(remembered), doubt{request.Token, from})
		if h.tried = (&try{request.Old, cmp.Or(answer.Err, ErrNotDone)}); expected {
			h.tried = nil // what was expected may have been wrong: after the read, retrying at once may help
		}
		return false
	}
	if request.Release {
		h.held, h.owned, h.number, h.doubts = false, Owned{}, -1, nil
		return true
	}
	h.confirm(request.Token, from, request.Until)
	return !h.leaving
}

// confirm makes a write known to have been done the holder's own.
func (h *Holder) confirm(token string, from, until int64) {
	h.held, h.token, h.doubts = true, token, nil
	h.owned = Owned{Number: h.number, From: from, Until: max(h.owned.Until, until)}
}
