package uidprom

import (
	"bytes"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"go.uber.org/goleak"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is when everything in these tests happens that happens at all.
var noon = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

// still is a generator whose Stats do not change.
type still struct{ stats uid.Stats }

func (g still) Stats() uid.Stats { return g.stats }

// calm is a cached generator that is in order.
func calm() still {
	return still{uid.Stats{
		Issued: 1200, Remaining: 64336,
		Clock: &uid.ClockStats{Layout: bits.Default(), LayoutEnd: bits.Default().End(), Worker: 7},
		Ring: &uid.RingStats{
			Capacity: 65536, Threshold: 32768, Refills: 1,
			OldestAge: 400 * time.Millisecond, MaxBorrow: -1, MaxAge: -1, Borrowed: 7 * time.Second,
		},
	}}
}

// troubled has a value in every metric of a ring and a clock.
func troubled() still {
	g := calm()
	s := &g.stats
	s.RejectedTakes, s.Starved, s.Waited, s.Closed, s.Dropped, s.LastError = 1204, 6, 1500*time.Millisecond, true, 5, errors.New("no")
	s.Clock.WorkerChanges, s.Clock.ReservedUntil, s.Clock.LeaseError = 2, noon.Add(7*time.Minute), errors.New("connection refused")
	s.Ring.Helps, s.Ring.RejectedPuts, s.Ring.OldestAge = 3, 4, -2*time.Hour
	s.Ring.MaxBorrow, s.Ring.Borrowed, s.Ring.MaxAge = 24*time.Hour, 23*time.Hour, time.Minute
	return g
}

// plain has no ring.
func plain() still {
	return still{uid.Stats{Clock: &uid.ClockStats{Layout: bits.Snowflake(), LayoutEnd: bits.Snowflake().End(), Worker: 3}}}
}

// loaded has two ranges of a store.
func loaded() still {
	return still{uid.Stats{
		Issued: 1200, Starved: 2, RejectedTakes: 1, Waited: 30 * time.Millisecond, Remaining: 1800,
		Loads: &uid.LoadStats{
			From: "memory", Tag: "invoices", InUse: uid.Run{First: 1001, N: 1000}, Next: uid.Run{First: 2001, N: 3000},
			Step: 3000, Loads: 3, Failures: 1, LoadTime: 2 * time.Millisecond,
		},
	}}
}

// cut is a segment that is closed, without a next range, in an outage.
func cut() still {
	g := loaded()
	s := &g.stats
	s.Closed, s.LastError = true, errors.New("unavailable")
	s.Loads.Tag, s.Loads.Next, s.Loads.Returned, s.Loads.Loading = "payments", uid.Run{}, 800, 50*time.Millisecond
	return g
}

// client is a client of a server.
func client() still {
	g := loaded()
	g.stats.Dropped = 5
	g.stats.Loads = &uid.LoadStats{From: "http://b/v1/orders/runs", Tag: "orders", Instance: "b", Changes: 4, Step: 3000, Loads: 9, Failures: 6, LoadTime: 2 * time.Millisecond}
	return g
}

// read returns a file.
func read(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// gather registers the generators and reads them as a scrape does, in a registry
// that looks closely.
func gather(t testing.TB, generators map[string]Generator) []*dto.MetricFamily {
	t.Helper()
	c, err := New(generators)
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(c); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// text returns families in the text format.
func text(t testing.TB, families []*dto.MetricFamily) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(&b, family); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}
