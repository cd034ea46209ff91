package lease

import (
	"fmt"
	"log/slog"
	"time"
)

// An Option changes a default of a Leaser. The Leaser's methods report all faults of
// the options at once.
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

// WithWindow sets how far ahead of the present, and of the last id stamped, a Leaser
// keeps time reserved. If the store is away, ids continue for that long at the layout's
// rate or slower; a service that draws faster uses the window faster. The next holder
// of a crashed holder's number starts up to a window after the last write. From 100 ms
// to a year, and no shorter than the expiry; the default is 10 minutes.
func WithWindow(d time.Duration) Option {
	return func(l *Leaser) { l.span("WithWindow", d, &l.window) }
}

// WithExpiry sets the expiry: if a holder gives no sign of life for that long, another
// may take its number. A holder gives four signs of life per expiry. A short expiry
// costs a paused holder its number, a long expiry keeps a dead holder's number from use;
// neither repeats an id. Give all processes the same expiry. From 100 ms to a year; the
// default is a minute.
func WithExpiry(d time.Duration) Option {
	return func(l *Leaser) { l.span("WithExpiry", d, &l.expiry) }
}

// WithMaxSkew sets how far the clock that stamps ids may be from the store's clock at
// the start. Later, a greater difference is logged. If the store has no clock, a start
// finds no difference, and later the clock is compared with the time that passed since
// the start. From 100 ms to a year; the default is a minute.
func WithMaxSkew(d time.Duration) Option {
	return func(l *Leaser) { l.span("WithMaxSkew", d, &l.maxSkew) }
}

// WithNumber makes a Leaser hold the number that assigner gives, and no other. While
// another process holds the number, the start fails with ErrHeld. After a crash, it
// fails until the lease has expired. worker.StatefulSet and uid.StaticWorker are
// assigners.
//
// After a crash the next holder starts where the crashed holder's reserved time
// ends, a window ahead of the clock or more. If uid.Config.MaxBorrow is less, the start
// fails until the clock has come closer.
//
// The number n counts as a range of its own, like Range(n, n). It changes nothing for
// Leasers whose range lacks n. A Leaser whose range contains n may take n first, and gets
// no new numbers below n afterwards. If Range is given too and lacks n, the start fails.
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
// those of one site. Leasers that share a store must have the same range, or ranges
// without a common number.
func Range(from, to int64) Option {
	return func(l *Leaser) {
		if from < 0 || to < from {
			l.fault("Range: %d to %d, want a range of numbers from 0 on", from, to)
			return
		}
		l.within = Bounds{from, to}
	}
}

// WithNode sets the process's description in the row; the default is DetectNode's. Host
// and Port have 1 to 64 characters, Type is NodeContainer or NodeActual.
func WithNode(node Node) Option {
	return func(l *Leaser) {
		if err := node.Validate(); err != nil {
			l.faults = append(l.faults, err)
			return
		}
		l.detect = func() (Node, error) { return node, nil }
	}
}

// WithLogger sets the logger for warnings and changes of number; nil is what
// slog.Default returns at that time. The logger's handler may draw ids from the
// Leaser's generator: a goroutine of its own writes the lines. Release waits for the
// lines until its context ends.
func WithLogger(logger *slog.Logger) Option {
	return func(l *Leaser) { l.logger = logger }
}
