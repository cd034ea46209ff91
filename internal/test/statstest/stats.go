// Package statstest has statistics of generators of every kind and in every state, for the tests of
// the status page and of the metrics. It also checks what Prometheus and Grafana read: alert rules,
// metrics and dashboards.
package statstest

import (
	"errors"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

// Noon is when everything in these tests happens.
var Noon = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

// Still is a generator whose Stats do not change.
type Still uid.Stats

// Stats returns s.
func (s Still) Stats() uid.Stats { return uid.Stats(s) }

// Reporters are generators with all of these statistics.
func Reporters(groups ...map[string]uid.Stats) map[string]uid.Reporter {
	all := map[string]uid.Reporter{}
	for _, group := range groups {
		for name, s := range group {
			all[name] = Still(s)
		}
	}
	return all
}

// Calm is a cached generator that is in order.
func Calm() uid.Stats {
	return uid.Stats{
		Issued: 1200, Remaining: 64336,
		Clock: &uid.ClockStats{Layout: bits.Registry(), LayoutEnd: bits.Registry().End(), Worker: 7},
		Ring: &uid.RingStats{
			Capacity: 65536, Threshold: 32768, Refills: 1,
			OldestAge: 400 * time.Millisecond, MaxAge: time.Minute, MaxBorrow: 24 * time.Hour, Borrowed: 7 * time.Second,
		},
	}
}

// Ringless is a generator without a ring.
func Ringless(layout bits.Layout, worker int64) uid.Stats {
	return uid.Stats{Clock: &uid.ClockStats{Layout: layout, LayoutEnd: layout.End(), Worker: worker}}
}

// Troubled has a value in every figure of a ring and a clock.
func Troubled() uid.Stats {
	s := Calm()
	s.Clock.WorkerChanges, s.RejectedTakes, s.Starved, s.Waited = 2, 1204, 6, 1500*time.Millisecond
	s.Clock.LayoutEnd, s.Clock.LayoutEndsSoon = Noon.AddDate(0, 2, 0), true
	s.Clock.ReservedUntil, s.Clock.LeaseError = Noon.Add(7*time.Minute), errors.New("connection <refused>")
	s.Ring.Helps, s.Ring.RejectedPuts, s.Dropped, s.Ring.OldestAge = 3, 4, 5, -2*time.Hour
	s.Ring.Borrowed = 24 * time.Hour
	s.LastError = &uid.BorrowLimitError{Limit: 24 * time.Hour, Retry: time.Second}
	return s
}

// Lost is a generator without a number, without ids and without a limit.
func Lost() uid.Stats {
	s := Calm()
	s.Clock.LeaseError, s.Closed, s.Remaining, s.Ring.MaxBorrow, s.Ring.MaxAge = errors.New("gone"), true, 0, uid.Unlimited, uid.Unlimited
	return s
}

// Counter is a segment with both ranges.
func Counter(tag string, change func(s *uid.Stats, l *uid.LoadStats)) uid.Stats {
	l := &uid.LoadStats{
		From: "mysql table leaf_alloc", Tag: tag, InUse: uid.Run{First: 1001, N: 1000}, Next: uid.Run{First: 2001, N: 1000},
		LastSize: 1000, Requests: 3, Failures: 1, LoadTime: 2 * time.Millisecond,
	}
	s := uid.Stats{Issued: 1200, Starved: 2, RejectedTakes: 1, Waited: 30 * time.Millisecond, Remaining: 1800, Loads: l}
	change(&s, l)
	return s
}

// Counters are segments in every state, and a client.
func Counters() map[string]uid.Stats {
	return map[string]uid.Stats{
		"invoices": Counter("invoices", func(*uid.Stats, *uid.LoadStats) {}),
		"parcels": Counter("orders", func(s *uid.Stats, l *uid.LoadStats) {
			l.Next, s.Remaining, l.Loading = uid.Run{}, 250, 50*time.Millisecond
		}),
		"unavailable": Counter("unavailable", func(s *uid.Stats, l *uid.LoadStats) {
			l.Next, s.Remaining = uid.Run{}, 0
			s.LastError = &segment.LoadError{Store: "mysql", Tag: "unavailable", Err: errors.New("connection <refused>"), Retry: time.Second}
		}),
		"used": Counter("used", func(s *uid.Stats, l *uid.LoadStats) {
			l.Next, s.Remaining, s.LastError = uid.Run{}, 10, segment.ErrUsedUp
		}),
		"closed": Counter("closed", func(s *uid.Stats, l *uid.LoadStats) { s.Closed, s.Remaining, l.Returned = true, 0, 800 }),
		"remote": Counter("orders", func(s *uid.Stats, l *uid.LoadStats) {
			s.Dropped = 5
			*l = uid.LoadStats{From: "http://b/v1/orders/runs", Tag: "orders", Instance: "b", Changes: 4, LastSize: 3000, Requests: 9, Failures: 6, LoadTime: 2 * time.Millisecond}
		}),
	}
}

// Clocked are generators of every kind with a clock.
func Clocked() map[string]uid.Stats {
	return map[string]uid.Stats{"lost": Lost(), "orders": Calm(), "sessions": Ringless(bits.Snowflake(), 3), "troubled": Troubled()}
}
