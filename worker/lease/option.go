package lease

import (
	"fmt"
	"log/slog"
	"time"
)

// An Option changes a Leaser from its defaults. What is wrong with options is
// reported by the Leaser's methods, all at once.
type Option func(*Leaser)

// The defaults of a Leaser's options.
const (
	DefaultWindow  = 10 * time.Minute
	DefaultExpiry  = time.Minute
	DefaultMaxSkew = time.Minute
)

// The shortest and the longest span that a Leaser takes.
const (
	minSpan = 100 * time.Millisecond
	maxSpan = 365 * 24 * time.Hour
)

func (l *Leaser) fault(format string, args ...any) {
	l.faults = append(l.faults, fmt.Errorf("lease: "+format, args...))
}

func (l *Leaser) span(option string, d time.Duration, to *time.Duration) {
	if d < minSpan || d > maxSpan {
		l.fault("%s: %v, want %v to %v", option, d, minSpan, maxSpan)
		return
	}
	*to = d
}

// WithWindow sets how far ahead of the present, and of the last id stamped, a
// Leaser keeps time reserved. Ids go on for that long while the store is away, at the
// layout's rate or slower; a service that draws faster uses the window faster. The
// successor of a crashed holder starts up to a window after its last write.
// From 100 ms to a year, and no shorter than the expiry; the default is 10 minutes.
func WithWindow(d time.Duration) Option {
	return func(l *Leaser) { l.span("WithWindow", d, &l.window) }
}

// WithExpiry sets how long after its last sign of life a number may be taken from
// its holder. A holder gives four signs of life in that time. Too short an expiry
// costs a paused holder its number, too long an expiry keeps a dead holder's number
// from use, and neither repeats an id. Give all processes the same. From 100 ms to a
// year; the default is a minute.
func WithExpiry(d time.Duration) Option {
	return func(l *Leaser) { l.span("WithExpiry", d, &l.expiry) }
}

// WithMaxSkew sets how far the clock that stamps ids may be from the store's at the
// start, where the store has a clock. From 100 ms to a year; the default is a
// minute.
func WithMaxSkew(d time.Duration) Option {
	return func(l *Leaser) { l.span("WithMaxSkew", d, &l.maxSkew) }
}

// WithNumber makes a Leaser hold the number that assigner gives, and no other.
// While another process holds the number, the start fails with ErrHeld; after a
// crash, until the lease has expired. worker.StatefulSet and uid.StaticWorker
// are assigners.
//
// After a crash the next holder starts where the crashed holder's reserved time
// ends, a window ahead of the clock or more. If uid.Config.MaxBorrow is less,
// the start fails until the clock has come closer. If some holders of a store
// use WithNumber, all should: new numbers are given from the greatest one up.
func WithNumber(assigner Assigner) Option {
	return func(l *Leaser) {
		if assigner == nil {
			l.fault("WithNumber: the assigner is nil, want one such as worker.StatefulSet()")
			return
		}
		l.assigner = assigner
	}
}

// Range restricts a Leaser to the numbers from from to to, both included, such as
// those of one site. Leasers that share a store have either the same range or
// ranges without a number in common.
func Range(from, to int64) Option {
	return func(l *Leaser) {
		if from < 0 || to < from {
			l.fault("Range: %d to %d, want a range of numbers from 0 on", from, to)
			return
		}
		l.within = Bounds{from, to}
	}
}

// WithNode sets what the row says about this process, instead of what
// DetectNode finds. Host and Port have 1 to 64 characters, Type is NodeContainer
// or NodeActual.
func WithNode(node Node) Option {
	return func(l *Leaser) {
		if err := node.Validate(); err != nil {
			l.faults = append(l.faults, err)
			return
		}
		l.detect = func() (Node, error) { return node, nil }
	}
}

// WithLogger sets where warnings and changes of number are logged; the default,
// also for nil, is what slog.Default returns at that time. A handler may draw
// ids from the generator that the Leaser serves: a goroutine of its own writes
// the lines. Release waits for lines that are being written, as long as its
// context allows.
func WithLogger(logger *slog.Logger) Option {
	return func(l *Leaser) { l.logger = logger }
}
