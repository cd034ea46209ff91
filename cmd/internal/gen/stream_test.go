package gen

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// scripted is a generator that has an id where the script says so, and has no time
// reserved otherwise.
type scripted struct {
	script string
	seen   func()
	next   uid.ID
}

func (s *scripted) NextN(ids []uid.ID) (int, error) {
	s.seen()
	if s.script == "" {
		return 0, uid.ErrClosed
	}
	step := s.script[0]
	s.script = s.script[1:]
	if step != 'i' {
		return 0, &uid.ReservationError{Worker: 7, Err: errors.New("the database is unavailable")}
	}
	s.next++
	ids[0] = s.next
	if len(ids) > 1 {
		return 1, &uid.ReservationError{Worker: 7}
	}
	return 1, nil
}

// WaitN waits in vain.
func (s *scripted) WaitN(ctx context.Context, _ []uid.ID) (int, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

// decimal appends the line of an id.
func decimal(b []byte, id uid.ID) ([]byte, error) { return fmt.Appendf(b, "%d\n", id), nil }

func (s *scripted) Close() error { return nil }

// A stream that is paced has all its ids out before it waits for the pace.
func TestStreamPaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stdout bytes.Buffer
		made := &scripted{script: "iiiii"}
		made.seen = func() {
			if lines := strings.Count(stdout.String(), "\n"); lines != int(made.next) {
				t.Errorf("%d lines are out, want %d", lines, made.next)
			}
		}
		s := &stream{made: made, lines: decimal, sequence: 8191, out: bufio.NewWriter(&stdout), pace: rate.NewLimiter(10, 1)}
		start := time.Now()
		if err := s.run(t.Context(), 5); err != nil || time.Since(start) != 400*time.Millisecond {
			t.Errorf("%v after %v, want 400 ms", err, time.Since(start))
		}
	})
}

// Each flag reaches the field of its own.
func TestConfig(t *testing.T) {
	layout := bits.JSSafe()
	f := flags{layout: layout, boost: 5, padding: 77, maxBorrow: time.Hour, maxAge: -1}
	got := f.config(slog.Default())
	got.RejectedTake = nil
	want := uid.CachedConfig{Layout: layout, BoostPower: 5, PaddingFactor: 77, MaxBorrow: time.Hour, MaxAge: -1, Logger: slog.Default()}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := (&flags{}).config(nil).MaxBorrow; got != 1 {
		t.Errorf("MaxBorrow %v for --max-borrow 0, want less than a tick and not the default", got)
	}
}

// A stream waits for time to be reserved, with all that it has written out. It
// says so when it takes longer than a change of number does, once each time.
func TestStreamWaits(t *testing.T) {
	for _, tt := range []struct {
		script   string
		waits    int
		warnings int
	}{
		{"iii", 2, 0}, // after all but the last, no time is left
		{"_i_ii", 4, 0},
		{"__iii", 4, 0},
		{"___iii", 5, 1},
		{"__________iii", 12, 1},
		{"___i___ii", 8, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			s := &stream{lines: decimal, sequence: 8191, out: bufio.NewWriter(&stdout), logger: slog.New(slog.NewTextHandler(&stderr, nil))}
			made := &scripted{script: tt.script}
			made.seen = func() {
				if lines := strings.Count(stdout.String(), "\n"); lines != int(made.next) {
					t.Errorf("%s: %d lines are out, want %d", tt.script, lines, made.next)
				}
			}
			s.made = made
			start := time.Now()
			if err := s.run(t.Context(), 3); err != nil {
				t.Errorf("%s: %v", tt.script, err)
			}
			if waited := time.Since(start); waited != time.Duration(tt.waits)*100*time.Millisecond {
				t.Errorf("%s: waited %v, want %d times", tt.script, waited, tt.waits)
			}
			if got := strings.Count(stderr.String(), "waiting:"); got != tt.warnings || got > 0 && !strings.Contains(stderr.String(), "the database is unavailable") {
				t.Errorf("%s: %d warnings, want %d: %s", tt.script, got, tt.warnings, &stderr)
			}
		})
	}
}
