package deal

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/ringbuffer"
)

// later is the error of a source that can make a run in an hour.
type later struct{}

func (later) Error() string             { return "later" }
func (later) RetryAfter() time.Duration { return time.Hour }

// A call is not put to sleep by a failure that a Wake has overtaken.
func TestWakeDuringAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d *Dealer
		failed := false
		source := func(context.Context) (ringbuffer.Run, error) {
			if !failed {
				failed = true
				d.Wake() // the source can make ids again
				return ringbuffer.Run{}, later{}
			}
			return ringbuffer.Run{First: 1, N: 4}, nil
		}
		d, err := New(source, Config{Runs: 4, RunLen: 4, PaddingFactor: 50, Policy: waiting})
		need.Must(t, err)
		began := time.Now()
		run, err := d.Claim(t.Context(), 1, Wait)
		if took := time.Since(began); err != nil || run.First != 1 || took > 0 {
			t.Errorf("%+v, %v after %v; want id 1 at once", run, err, took)
		}
		need.Must(t, d.Shutdown(t.Context()))
	})
}
