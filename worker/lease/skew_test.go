package lease

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/worker/lease/internal/protocol"
)

// The bound is the same on either side of the store's clock, and allows for the time
// that the reading took.
func TestSkewBounds(t *testing.T) {
	k := &keeper{leaser: &Leaser{maxSkew: time.Minute}}
	store := time.UnixMilli(1_000_000_000)
	took := 100 * time.Millisecond
	for _, tt := range []struct {
		name   string
		before time.Time
		ahead  time.Duration // 0 is no error
	}{
		{"ahead, at the bound", store.Add(time.Minute), 0},
		{"ahead", store.Add(time.Minute + 1), time.Minute + 1},
		{"behind, at the bound", store.Add(-time.Minute - took), 0},
		{"behind", store.Add(-time.Minute - took - 1), -time.Minute - 1},
	} {
		err := k.compareClocks(tt.before, tt.before.Add(took), store.UnixMilli())
		var skew *SkewError
		if tt.ahead == 0 && err != nil || tt.ahead != 0 && (!errors.As(err, &skew) || skew.Ahead != tt.ahead) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.ahead)
		}
	}
}

// What is used or free is never less than the instant.
func TestMillisRoundUp(t *testing.T) {
	for _, tt := range []struct {
		at   time.Time
		want int64
	}{
		{time.Time{}, 0},
		{time.Unix(-1, 0), 0},
		{time.UnixMilli(7), 7},
		{time.UnixMilli(7).Add(1), 8},
		{time.UnixMilli(8).Add(-1), 8},
		{time.Unix(protocol.MaxInstant, 0), protocol.MaxInstant},
	} {
		if got := millis(tt.at); got != tt.want {
			t.Errorf("millis(%v) = %d, want %d", tt.at, got, tt.want)
		}
	}
}

type named struct{ Store }

func (named) Name() string { return "memory" }

// Once a number is held, a wrong clock is logged when that begins and when it ends.
func TestSkewIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	k := &keeper{started: true, leaser: &Leaser{store: named{}, maxSkew: time.Minute, logger: slog.New(slog.NewTextHandler(&log, nil))}}
	now := time.Now()
	for _, ahead := range []time.Duration{0, time.Hour, time.Hour, -time.Hour, 0, time.Second} {
		if err := k.compareClocks(now, now, now.Add(-ahead).UnixMilli()); err != nil {
			t.Errorf("%v ahead: %v", ahead, err)
		}
	}
	k.journal.flush(t.Context())
	text := log.String()
	if strings.Count(text, "\n") != 2 || strings.Count(text, "has gone wrong") != 1 || strings.Count(text, "is right again") != 1 {
		t.Errorf("log: %s", text)
	}
}
