package serve

import (
	"net"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/uidring/uidring/cmd/uidringd/internal/config"
)

// A refusal of Redis commands counts as one until its end.
func TestRefusedCommands(t *testing.T) {
	c := &config.Config{Limits: config.Limits{Running: 1, Connections: 1, PerAddress: 1}}
	inFlight := prometheus.NewGauge(prometheus.GaugeOpts{Name: "in_flight"})
	s := &server{config: c, seen: &observer{metrics: &metrics{inFlight: inFlight}}}
	conn := net.Conn(new(net.TCPConn))
	s.running.Store(100)
	for range 3 {
		err := s.Begin(conn)
		if err == nil || s.refused.Load() != 1 {
			t.Fatalf("%v, and %d refused; want a refusal", err, s.refused.Load())
		}
		if s.End(conn, err); s.refused.Load() != 0 || s.running.Load() != 100 {
			t.Fatalf("%d refused and %d running at the end; want 0 and 100", s.refused.Load(), s.running.Load())
		}
	}
}
