package serve

import (
	"runtime/debug"
	"testing"
)

// The server sets what the environment leaves open, and nothing else.
func TestTuneGC(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(1<<40)
	t.Cleanup(func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit) })
	for _, tt := range []struct {
		gogc, limit string
		wantPercent int
		wantLimit   int64
	}{{"50", "1GiB", 100, 1 << 40}, {"off", "", 100, 400 << 20}, {"", "off", 400, 1 << 40}, {"", "", 400, 400 << 20}} {
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(1 << 40)
		t.Setenv("GOGC", tt.gogc)
		t.Setenv("GOMEMLIMIT", tt.limit)
		tuneGC()
		if percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1); percent != tt.wantPercent || limit != tt.wantLimit {
			t.Errorf("GOGC=%s GOMEMLIMIT=%s: %d %% and %d bytes, want %d %% and %d", tt.gogc, tt.limit, percent, limit, tt.wantPercent, tt.wantLimit)
		}
	}
}
