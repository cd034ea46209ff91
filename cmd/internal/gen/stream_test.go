package gen

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// delayed is a generator whose ids come one after another, each after a delay.
type delayed struct {
	uid.Generator
	delays []time.Duration // of the ids to come
	err    error           // of Stats
	waits  func(ids int)   // is called before a wait, with how many ids were made
	made   int
}

func (d *delayed) Claim(ctx context.Context, limit int64) (uid.Run, error) {
	if d.delays[0] > 0 {
		began := time.Now()
		d.waits(d.made)
		select {
		case <-time.After(d.delays[0]):
		case <-ctx.Done():
		}
		if d.delays[0] -= time.Since(began); d.delays[0] > 0 {
			return uid.Run{}, ctx.Err()
		}
	}
	return d.TryClaim(limit)
}

func (d *delayed) TryClaim(int64) (uid.Run, error) {
	if d.delays[0] > 0 {
		return uid.Run{}, uid.ErrNotReady
	}
	d.delays, d.made = d.delays[1:], d.made+1
	return uid.Run{First: uid.ID(d.made), N: 1}, nil
}

func (d *delayed) Stats() uid.Stats { return uid.Stats{LastError: d.err} }

// decimal appends the line of an id.
func decimal(b []byte, id uid.ID) ([]byte, error) { return fmt.Appendf(b, "%d\n", id), nil }

// Each flag sets its field of the config.
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

// A stream writes all that it has before it waits. It says that no id can be made if that
// lasts longer than a change of number does.
func TestStreamWaits(t *testing.T) {
	failing := errors.New("the database is unavailable")
	for _, tt := range []struct {
		name   string
		delays []time.Duration
		err    error // of the statistics
		want   int   // warnings
	}{
		{"ready", make([]time.Duration, 3), failing, 0},
		{"short", []time.Duration{0, patience - 1, 0, patience - 1}, failing, 0},
		{"long", []time.Duration{0, time.Hour, 0}, failing, 1},
		{"twice", []time.Duration{patience + 1, 0, time.Hour}, failing, 2},
		{"clock", []time.Duration{0, time.Hour}, nil, 0},
		{"ahead", []time.Duration{0, time.Hour}, uid.ErrBorrowLimit, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			made := &delayed{delays: tt.delays, err: tt.err, waits: func(ids int) {
				if lines := strings.Count(stdout.String(), "\n"); lines != ids {
					t.Errorf("%s: %d lines are out before a wait, want %d", tt.name, lines, ids)
				}
			}}
			s := &stream{made: made, lines: decimal, out: bufio.NewWriter(&stdout), logger: slog.New(slog.NewTextHandler(&stderr, nil)), shown: progressbar.NewOptions64(3, progressbar.OptionSetWriter(io.Discard))}
			if err := s.run(t.Context(), int64(len(tt.delays))); err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			if got := s.shown.State().CurrentNum > 0; got != (len(tt.delays) == 3 && tt.want > 0) && tt.name != "clock" && tt.name != "ahead" {
				t.Errorf("%s: progress was shown: %v", tt.name, got)
			}
			if got := strings.Count(stderr.String(), "the database is unavailable"); got != tt.want {
				t.Errorf("%s: %d warnings, want %d: %s", tt.name, got, tt.want, &stderr)
			}
		})
	}
}
