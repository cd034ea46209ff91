package worker

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// An Option changes a Registry or a Leaser from its defaults. What is wrong with
// options, or means nothing to the one at hand, is reported by its methods, all
// at once.
type Option func(*settings)

// settings is what options change.
type settings struct {
	table
	window  time.Duration
	expiry  time.Duration
	maxSkew time.Duration
	number  Source // nil is any
}

// newSettings applies options.
func newSettings(k kind, db *gorm.DB, opts []Option) settings {
	s := settings{
		table: table{
			kind:   k,
			name:   k.table,
			ensure: true,
			detect: func() (Node, error) { return DetectNode(os.Getenv) },
			now:    time.Now,
		},
		window:  DefaultWindow,
		expiry:  DefaultExpiry,
		maxSkew: DefaultMaxSkew,
	}
	if db != nil && db.Config != nil && db.Statement != nil {
		// A copy, so that what the app chains to db later is not seen.
		s.db = db.Session(&gorm.Session{SkipHooks: true, Logger: logger.Discard})
	}
	for _, opt := range opts {
		opt(&s)
	}
	if k.name == leaserKind.name && s.window < s.expiry {
		s.fault("WithWindow: %v is shorter than the expiry, %v", s.window, s.expiry)
	}
	return s
}

func (s *settings) fault(format string, args ...any) {
	s.faults = append(s.faults, fmt.Errorf("worker: "+format, args...))
}

// leaserOnly reports whether the settings are those of a Leaser, and has the
// option refused if not.
func (s *settings) leaserOnly(option string) bool {
	if s.kind.name == leaserKind.name {
		return true
	}
	s.fault("%s means nothing to a %s", option, s.kind.name)
	return false
}

// maxName is the longest name of a table that PostgreSQL does not cut.
const maxName = 63

var namePattern = regexp.MustCompile(
	fmt.Sprintf(`^(?:[A-Za-z_][A-Za-z0-9_]{0,%d}\.)?[A-Za-z_][A-Za-z0-9_]{0,%[1]d}$`, maxName-1))

// WithTable names the table; the default is WORKER_NODE for a Registry and
// WORKER_LEASE for a Leaser. A name is ASCII letters, digits and underscores,
// does not start with a digit, has at most 63 characters, and may be qualified by
// a schema (in MySQL, a database) of the same form: "ids.worker_node". PostgreSQL
// folds it to lower case, as it does with any name that is written without
// quotes; a table whose name there has capitals cannot be used.
func WithTable(name string) Option {
	return func(s *settings) {
		if !namePattern.MatchString(name) {
			s.fault("WithTable: %q is not a table name: want letters, digits "+
				"and underscores, no digit first, 1 to %d of them, optionally after a schema of the same form and a dot",
				name, maxName)
			return
		}
		s.name = name
	}
}

// WithoutSchema has nothing looked for or created at the start, for those who
// create the table by their own migrations, or, of a Registry, on a database that
// EnsureSchema does not know.
func WithoutSchema() Option {
	return func(s *settings) { s.ensure = false }
}

// WithNode sets what the row says about this process, instead of what
// DetectNode finds. Host and Port have 1 to 64 characters, Type is Container or
// Actual.
func WithNode(node Node) Option {
	return func(s *settings) {
		if err := node.validate(); err != nil {
			s.faults = append(s.faults, err)
			return
		}
		s.detect = func() (Node, error) { return node, nil }
	}
}

// WithLogger sets where warnings go, and a Leaser's changes of number; the
// default, also for nil, is what slog.Default returns when there is something to
// say.
func WithLogger(logger *slog.Logger) Option {
	return func(s *settings) { s.logger = logger }
}

// What a Leaser has where an option does not say otherwise.
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

func checkSpan(s *settings, option string, d time.Duration) bool {
	if !s.leaserOnly(option) {
		return false
	}
	if d < minSpan || d > maxSpan {
		s.fault("%s: %v, want %v to %v", option, d, minSpan, maxSpan)
		return false
	}
	return true
}

// WithWindow sets how far ahead of the present, and of the last id stamped, a
// Leaser keeps time reserved: for that long ids go on while the database is away.
// It is also how far ahead of a crashed holder's last write its successor starts.
// From 100 ms to a year, and no shorter than the expiry; the default is 10
// minutes.
func WithWindow(d time.Duration) Option {
	return func(s *settings) {
		if checkSpan(s, "WithWindow", d) {
			s.window = d
		}
	}
}

// WithExpiry sets how long after its last sign of life a number may be taken from
// its holder; a holder gives one four times as often. Numbers are safe whatever
// it is: too short a span costs a paused holder its number, too long a one keeps
// dead holders' numbers from use. Give all processes the same. From 100 ms to a
// year; the default is a minute.
func WithExpiry(d time.Duration) Option {
	return func(s *settings) {
		if checkSpan(s, "WithExpiry", d) {
			s.expiry = d
		}
	}
}

// WithMaxSkew sets how far the clock that stamps ids may be from the database's
// when a Leaser starts. From 100 ms to a year; the default is a minute.
func WithMaxSkew(d time.Duration) Option {
	return func(s *settings) {
		if checkSpan(s, "WithMaxSkew", d) {
			s.maxSkew = d
		}
	}
}

// A Source says which number this process is, from 0 to limit. StatefulSet and
// uid.StaticWorker are sources.
type Source interface {
	Assign(ctx context.Context, limit int64) (number int64, err error)
}

// WithNumber has a Leaser hold the number that source gives, and no other. While
// somebody else holds it, the start fails with ErrHeld; after a crash that is until
// the lease has expired. Each crash has the next holder start up to a window, and
// what was in the ring, further ahead: uid.Config.MaxBorrow has to allow that, or
// the start fails until the clock has come closer. Where some holders of a table
// ask for their number, all should: new numbers are given from the greatest one up.
func WithNumber(source Source) Option {
	return func(s *settings) {
		if !s.leaserOnly("WithNumber") {
			return
		}
		if source == nil {
			s.fault("WithNumber: the source is nil, want one such as StatefulSet()")
			return
		}
		s.number = source
	}
}
