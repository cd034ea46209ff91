package layout

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/uidring/uidring/bits"
)

// sqlKinds are the databases that --sql takes.
var sqlKinds = []string{"postgres", "mysql", "sqlite"}

// expression is SQL on the column id or on the instant :t, and what it says.
type expression struct{ comment, body string }

// printSQL returns expressions on ids of the layout. They need no name in the database, so
// that several layouts can be read in one.
func printSQL(layout bits.Layout, kind string) (string, error) {
	ids, err := bits.NewAllocator(layout)
	if err != nil {
		return "", err
	}
	dialect := map[string]func(*bits.Allocator) (about string, list []expression, err error){"postgres": postgres, "mysql": mysql, "sqlite": sqlite}[kind]
	about, list, err := dialect(ids)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf(`Ids of the layout %s in %s

id is a column. All are NULL for a number that is not an id of the layout, and for an
instant before %s or from %s on.
All ids of a period: WHERE id BETWEEN (least id) AND (greatest id).
The time in an id of uid.Cached is not the time of the call: see Cached.Range.
`, layout, about, layout.Epoch.UTC().Format(time.RFC3339Nano), layout.End().Format(time.RFC3339Nano))
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight("-- "+line, " \n") + "\n")
	}
	for _, e := range list {
		fmt.Fprintf(&b, "\n-- %s\n%s\n", e.comment, e.body)
	}
	return b.String(), nil
}

// grid is how a database counts time: in units of step, up to last. All calculation in SQL
// is on integers of 64 bits that are not negative, so that division rounds down.
type grid struct {
	ids      *bits.Allocator
	step     time.Duration // divides a second
	last     time.Time     // latest instant that the type holds
	div, mod string        // operators

	floor time.Time // the epoch rounded down to step
	ceil  time.Time // the epoch rounded up to step
	above int64     // nanoseconds from floor to the epoch
	below int64     // nanoseconds from the epoch to ceil
}

func newGrid(ids *bits.Allocator, step time.Duration, last time.Time, div, mod string) (*grid, error) {
	g := &grid{ids: ids, step: step, last: last, div: div, mod: mod}
	epoch := ids.Layout().Epoch
	g.above = int64(epoch.Nanosecond()) % int64(step)
	g.floor = epoch.Add(-time.Duration(g.above))
	g.ceil = g.floor
	if g.above > 0 {
		g.ceil, g.below = g.floor.Add(step), int64(step)-g.above
	}
	if g.ceil.After(last) {
		return nil, fmt.Errorf("the epoch of %s is after %s, the last instant that the database holds", ids.Layout(), last.Format(time.RFC3339Nano))
	}
	return g, nil
}

func (g *grid) perSecond() int64 { return int64(time.Second / g.step) }

// add returns t and n steps, for a t that is a multiple of the step.
func (g *grid) add(t time.Time, n int64) time.Time {
	return time.Unix(t.Unix()+n/g.perSecond(), int64(t.Nanosecond())+n%g.perSecond()*int64(g.step)).UTC()
}

// until returns how many steps last is after t, at most what 64 bits hold.
func (g *grid) until(t, last time.Time) int64 {
	n := new(big.Int).Mul(big.NewInt(last.Unix()-t.Unix()), big.NewInt(g.perSecond()))
	n.Add(n, big.NewInt(int64(last.Nanosecond()-t.Nanosecond())/int64(g.step)))
	return atMost(n, math.MaxInt64)
}

// elapsed is an expression: how many steps the tick of id begins after floor, rounded down.
func (g *grid) elapsed() string {
	tick, unit := g.tick(), int64(g.ids.Layout().Unit)
	if unit%int64(g.step) == 0 {
		return times(tick, unit/int64(g.step))
	}
	ticks := int64(time.Second) / unit // a second
	return fmt.Sprintf("(%s %s %d * %d + (%s %s %d * %d + %d) %s %d)",
		tick, g.div, ticks, g.perSecond(), tick, g.mod, ticks, unit, g.above, g.div, g.step)
}

// lastTimed returns the greatest id whose time is last or earlier, and whose elapsed fits
// 64 bits.
func (g *grid) lastTimed(last time.Time) int64 {
	// The tick with above + tick*unit < (steps+1)*step.
	tick := new(big.Int).Add(big.NewInt(g.until(g.floor, last)), big.NewInt(1))
	tick.Mul(tick, big.NewInt(int64(g.step)))
	tick.Sub(tick, big.NewInt(g.above+1))
	tick.Div(tick, big.NewInt(int64(g.ids.Layout().Unit)))
	return g.greatest(atMost(tick, g.ids.MaxTick()))
}

// lastID returns the greatest id of the layout.
func (g *grid) lastID() int64 { return g.greatest(g.ids.MaxTick()) }

func (g *grid) greatest(tick int64) int64 {
	id, _ := g.ids.Compose(tick, g.ids.MaxWorker(), g.ids.MaxSequence()) // in range
	return id
}

// lastInstant returns the latest instant of the database that lies in a tick of the
// layout. It is before ceil if there is none.
func (g *grid) lastInstant() time.Time {
	// The step with steps*step + below < ticks*unit.
	steps := new(big.Int).Add(big.NewInt(g.ids.MaxTick()), big.NewInt(1))
	steps.Mul(steps, big.NewInt(int64(g.ids.Layout().Unit)))
	steps.Sub(steps, big.NewInt(g.below+1))
	steps.Div(steps, big.NewInt(int64(g.step))) // rounds down
	return g.add(g.ceil, atMost(steps, g.until(g.ceil, g.last)))
}

// tickOf is an expression: the tick of an instant that is so many steps after ceil.
func (g *grid) tickOf(steps string) string {
	unit := int64(g.ids.Layout().Unit)
	if unit%int64(g.step) == 0 {
		if unit == int64(g.step) {
			return steps
		}
		return fmt.Sprintf("(%s %s %d)", steps, g.div, unit/int64(g.step))
	}
	return fmt.Sprintf("(%s %s %d * %d + (%s %s %d * %d + %d) %s %d)",
		steps, g.div, g.perSecond(), int64(time.Second)/unit, steps, g.mod, g.perSecond(), g.step, g.below, g.div, unit)
}

func (g *grid) timeShift() int {
	l := g.ids.Layout()
	return int(l.WorkerBits) + int(l.SequenceBits)
}

func (g *grid) tick() string { return fmt.Sprintf("(id >> %d)", g.timeShift()) }

// fields are the expressions of worker number, its named parts and sequence.
func (g *grid) fields() []expression {
	layout := g.ids.Layout()
	field := func(comment string, shift, bits uint8) expression {
		id := "id"
		if shift > 0 {
			id = fmt.Sprintf("(id >> %d)", shift)
		}
		return expression{comment, ofIDs(g.lastID(), fmt.Sprintf("(%s & %d)", id, int64(1)<<bits-1))}
	}
	list := []expression{field("the worker number", layout.SequenceBits, layout.WorkerBits)}
	if parts, err := g.ids.SplitWorker(0); err == nil && layout.WorkerParts != "" {
		shift := layout.SequenceBits + layout.WorkerBits
		for _, p := range parts {
			shift -= p.Bits
			list = append(list, field(p.Name+", a part of the worker number", shift, p.Bits))
		}
	}
	return append(list, field("the place within the tick", 0, layout.SequenceBits))
}

// period are the expressions of the least and the greatest id of the tick that :t lies in.
// tick is that tick's, and in says that :t lies in the layout.
func (g *grid) period(in, tick string) []expression {
	within := func(id string) string {
		if g.lastInstant().Before(g.ceil) {
			return "NULL" // no instant of the database lies in the layout
		}
		return fmt.Sprintf("CASE WHEN %s THEN %s END", in, id)
	}
	return []expression{
		{"the least id of the tick that :t lies in", within(fmt.Sprintf("(%s << %d)", tick, g.timeShift()))},
		{"the greatest id of that tick", within(fmt.Sprintf("(%s << %d | %d)", tick, g.timeShift(), int64(1)<<g.timeShift()-1))},
	}
}

// ofIDs returns an expression that is NULL unless id is from 0 to last.
func ofIDs(last int64, expression string) string {
	return fmt.Sprintf("CASE WHEN id BETWEEN 0 AND %d THEN %s END", last, expression)
}

func times(expression string, n int64) string {
	if n == 1 {
		return expression
	}
	return fmt.Sprintf("(%s * %d)", expression, n)
}

func atMost(n *big.Int, limit int64) int64 {
	if n.IsInt64() {
		return min(n.Int64(), limit)
	}
	return limit // n is not negative when it does not fit
}
