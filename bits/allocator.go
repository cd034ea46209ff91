package bits

import (
	"errors"
	"fmt"
	"math"
	"time"
)

var (
	// ErrRange means that a tick, worker number, sequence number or instant is out of range.
	ErrRange = errors.New("bits: out of range")

	// ErrForeign means that a number is not an id of a layout: it is negative, or uses bits above
	// the layout's.
	ErrForeign = errors.New("bits: not an id of this layout")
)

// Parts are the fields of an id.
type Parts struct {
	Time     time.Time // when the tick begins, in UTC
	Tick     int64     // ticks since the layout's epoch, from 0
	Worker   int64     // number of the worker that made the id, from 0
	Sequence int64     // position within the tick, from 0
}

// Allocator composes and parses ids of a layout. Make one with [NewAllocator]. It is safe for
// concurrent use, and may be copied.
type Allocator struct {
	layout      Layout
	timeShift   uint8
	workerShift uint8
	maxTick     int64
	maxWorker   int64
	maxSequence int64
	parts       []WorkerPart

	// inSeconds is whether a tick is a second and the epoch a whole second.
	// epochSecond is then the epoch in Unix seconds.
	epochSecond int64
	inSeconds   bool
}

// NewAllocator returns an allocator, or the error that [Layout.Validate] returns.
func NewAllocator(layout Layout) (*Allocator, error) {
	if err := layout.Validate(); err != nil {
		return nil, err
	}
	parts, _ := layout.workerParts() // valid
	layout.Epoch = layout.Epoch.UTC()
	return &Allocator{
		layout:      layout,
		timeShift:   layout.WorkerBits + layout.SequenceBits,
		workerShift: layout.SequenceBits,
		maxTick:     1<<layout.TimeBits - 1,
		maxWorker:   1<<layout.WorkerBits - 1,
		maxSequence: 1<<layout.SequenceBits - 1,
		parts:       parts,
		epochSecond: layout.Epoch.Unix(),
		inSeconds:   layout.Unit == time.Second && layout.Epoch.Nanosecond() == 0,
	}, nil
}

// Layout returns the layout that NewAllocator was given.
func (a *Allocator) Layout() Layout { return a.layout }

// MaxTick returns the last tick that the layout can represent.
func (a *Allocator) MaxTick() int64 { return a.maxTick }

// MaxWorker returns the greatest worker number that the layout can hold.
func (a *Allocator) MaxWorker() int64 { return a.maxWorker }

// MaxSequence returns the greatest sequence number. A worker has MaxSequence+1 ids per tick.
func (a *Allocator) MaxSequence() int64 { return a.maxSequence }

// Compose returns the id with the given tick, worker number and sequence number, or an error that
// matches [ErrRange] and names every field that is out of range.
func (a *Allocator) Compose(tick, worker, sequence int64) (int64, error) {
	err := errors.Join(
		inRange("tick", tick, a.maxTick),
		inRange("worker", worker, a.maxWorker),
		inRange("sequence", sequence, a.maxSequence),
	)
	if err != nil {
		return 0, err
	}
	return a.first(tick, worker) | sequence, nil
}

func inRange(what string, value, greatest int64) error {
	if value < 0 || value > greatest {
		return fmt.Errorf("%w: %s is %d, want 0 to %d", ErrRange, what, value, greatest)
	}
	return nil
}

func (a *Allocator) first(tick, worker int64) int64 {
	return tick<<a.timeShift | worker<<a.workerShift
}

// Parse splits an id into its parts. If the number is not an id of the layout, the error matches
// [ErrForeign] and quotes the number.
func (a *Allocator) Parse(id int64) (Parts, error) {
	if id < 0 || id>>a.timeShift > a.maxTick {
		return Parts{}, fmt.Errorf("%w: %d, want 0 to %d for %s", ErrForeign, id, a.last(a.maxTick), a.layout)
	}
	tick := id >> a.timeShift
	return Parts{
		Time:     a.Time(tick),
		Tick:     tick,
		Worker:   id >> a.workerShift & a.maxWorker,
		Sequence: id & a.maxSequence,
	}, nil
}

func (a *Allocator) last(tick int64) int64 {
	return a.first(tick, a.maxWorker) | a.maxSequence
}

// Tick returns the tick that contains t: negative before the epoch, above MaxTick after the
// layout's end.
func (a *Allocator) Tick(t time.Time) int64 {
	if a.inSeconds {
		return t.Unix() - a.epochSecond
	}
	return a.layout.tick(t)
}

// Time returns the UTC instant at which tick, from 0 to MaxTick+1, begins.
func (a *Allocator) Time(tick int64) time.Time {
	return a.layout.instant(uint64(tick))
}

// FirstID returns the least id that any worker can make in the tick that contains t. With
// [Allocator.LastID], it bounds a query by time:
//
//	WHERE id BETWEEN firstID(from) AND lastID(to)
//
// The time in an id from uid.Cached is not the time of the call. To cover all calls in a period,
// use uid.Cached.Range or uid.Default.Range.
//
// For an instant that the layout cannot represent, the error matches [ErrRange].
func (a *Allocator) FirstID(t time.Time) (int64, error) {
	tick, err := a.tickInRange(t)
	if err != nil {
		return 0, err
	}
	return a.first(tick, 0), nil
}

// LastID returns the greatest id that any worker can make in the tick that contains t. See
// [Allocator.FirstID].
func (a *Allocator) LastID(t time.Time) (int64, error) {
	tick, err := a.tickInRange(t)
	if err != nil {
		return 0, err
	}
	return a.last(tick), nil
}

func (a *Allocator) tickInRange(t time.Time) (int64, error) {
	tick := a.Tick(t)
	// Tick returns MaxInt64 for later ticks too, and a layout of 63 bits has that tick.
	if tick < 0 || tick > a.maxTick || tick == math.MaxInt64 && !t.Before(a.layout.End()) {
		return 0, fmt.Errorf("%w: instant %s, want from %s to before %s",
			ErrRange, rfc3339(t), rfc3339(a.layout.Epoch), rfc3339(a.layout.End()))
	}
	return tick, nil
}
