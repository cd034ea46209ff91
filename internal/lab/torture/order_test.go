//go:build linux

package torture

import (
	"fmt"
	"math"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// orderVariable has a child's order. If it is set, the test binary is a child.
const orderVariable = "UIDRING_TORTURE_CHILD"

// kind is a kind of generator.
type kind string

// The kinds. Counter is segment.Counter; the others are of package uid.
const (
	kindDefault kind = "Default"
	kindCached  kind = "Cached"
	kindSlots   kind = "Slots"
	kindCounter kind = "segment"
)

var clocked = []kind{kindDefault, kindCached, kindSlots}

// order is what a child reads at its start.
type order struct {
	URL    string
	Host   string // tells processes apart in the history
	Kind   kind
	Seed   uint64
	Layout bits.Layout
	Rate   int    // ids a second, about
	Fault  string // how the child breaks the protocol; empty is none

	Boost int // Cached's BoostPower, and by how much Slots has more than its default

	Leaser leaser // what gives its number
	Late   bool   // ranges are returned late, and again if the store refused them
}

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
	recordNone                     // milliseconds that the clock lacks: there is no id for now; 1: the counter was restored
	recordClosed                   // text: what Close said, empty for nothing
	recordFatal                    // text: what must not happen
	recordWrite                    // attempt, number, until, change; text: token, blank, the token to replace: a write begins
	recordDone                     // text: token of a write that the store has reported done
	recordRange                    // first id, how many: a range was reserved
	recordReturn                   // first id, end: ids are to be given back
	recordEvent                    // how often; text: an event, as the report names it
)

// Short times, so that many events fit into a short run. The window is longer than most
// outages and pauses, and shorter than some.
const (
	expiry = time.Second
	window = 3 * time.Second
)

// Ranges of the counter are short too: a range lasts ahead, and has mostStep ids at most.
const (
	ahead     = 250 * time.Millisecond
	firstStep = 1000
	mostStep  = 5000
)

// epoch is the epoch of all layouts here.
var epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// short has fewer ids in a second than a child draws, so that children borrow time.
var short = bits.Layout{TimeBits: 34, WorkerBits: 3, SequenceBits: 10, Epoch: epoch, Unit: 100 * time.Millisecond}

// worker returns the worker number of an id.
func (o order) worker(id int64) int64 {
	return id >> o.Layout.SequenceBits & (1<<o.Layout.WorkerBits - 1)
}

// tick returns the milliseconds since 1970 at which the tick of an id begins and
// ends. Units are whole milliseconds.
func (o order) tick(id int64) (begin, end int64) {
	unit := o.Layout.Unit.Milliseconds()
	begin = o.Layout.Epoch.UnixMilli() + id>>(o.Layout.SequenceBits+o.Layout.WorkerBits)*unit
	return begin, begin + unit
}

// slots is how many ticks Slots remembers. With few, a clock that was set back has to
// advance far before there are ids again. With many, it need not advance at all.
func (o order) slots() int { return uid.DefaultSlots << (2 * (o.Boost - 1)) }

// rest returns how many ids from id on belong to one span: to id's tick and number.
func (o order) rest(id int64) int64 {
	if o.Kind == kindCounter {
		return math.MaxInt64
	}
	return 1<<o.Layout.SequenceBits - id&(1<<o.Layout.SequenceBits-1)
}

func (o order) describe(first, n int64) string {
	if o.Kind == kindCounter {
		return fmt.Sprintf("%d ids from %d of the counter", n, first)
	}
	begin, end := o.tick(first)
	return fmt.Sprintf("%d ids from %d, of number %d and the tick from %d to %d", n, first, o.worker(first), begin, end)
}
