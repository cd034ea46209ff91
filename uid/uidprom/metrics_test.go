package uidprom

import (
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/statstest"
	"github.com/uidring/uidring/uid"
)

// TestExposition holds the names, types and forms that others read.
func TestExposition(t *testing.T) {
	statstest.Golden(t, "metrics.txt", text(t, gather(t, several())))
}

// Values that the file has not.
func TestValues(t *testing.T) {
	for _, tt := range []struct {
		set    func(*uid.Stats)
		metric string
		want   float64
	}{
		{func(s *uid.Stats) { s.Ring.MaxBorrow = 1 }, "uidring_borrow_limit_seconds", 1e-9},
		{func(s *uid.Stats) { s.Clock.ReservedUntil = statstest.Noon.Add(500 * time.Millisecond) }, "uidring_reservation_end_timestamp_seconds", 1772366400.5},
		{func(s *uid.Stats) { s.Clock.Layout = bits.Snowflake() }, "uidring_ring_span_seconds", 0.016},
		{func(s *uid.Stats) { s.LastError = &uid.BorrowLimitError{} }, "uidring_failing", 0},
		{func(s *uid.Stats) { s.Clock.Layout.WorkerBits = 0 }, "uidring_worker_number_max", 0},
		{func(s *uid.Stats) {
			s.Clock.LayoutEnd = bits.Layout{TimeBits: 63, Epoch: statstest.Noon, Unit: time.Second}.End()
		}, "uidring_layout_end_timestamp_seconds", 9223371974719179007},
	} {
		s := statstest.Calm()
		tt.set(&s)
		got := -1.0
		for _, family := range gather(t, map[string]uid.Reporter{"orders": statstest.Still(s)}) {
			if family.GetName() == tt.metric {
				got = family.GetMetric()[0].GetGauge().GetValue()
			}
		}
		if got != tt.want {
			t.Errorf("%s is %v, want %v", tt.metric, got, tt.want)
		}
	}
}
