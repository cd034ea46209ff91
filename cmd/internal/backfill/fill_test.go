package backfill

import (
	"testing"
	"time"
)

func TestProgress(t *testing.T) {
	for _, tt := range []struct {
		rows, all int64
		took      time.Duration
		want      string
	}{
		{30_000, 120_000, 10 * time.Second, "30000 of 120000 rows, 3000 a second, 30s left"},
		{5, 5, time.Minute, "5 of 5 rows, 0 a second, 0s left"},
	} {
		if got := progress(tt.rows, tt.all, tt.took); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
