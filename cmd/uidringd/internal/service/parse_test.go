package service

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/format"
	"github.com/uidring/uidring/worker/lease"
)

// The layouts of a store are asked for once a minute. While the store does not answer, those that it named last are used,
// or the generator's own.
func TestLayoutsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, answers := 0, false
		own := bits.Fleet()
		own.WorkerParts = "rack:8+8"
		entry := &Entry{Layout: &own, Layouts: func(ctx context.Context) (format.Layouts, error) {
			if asked++; !answers {
				<-ctx.Done()
				return format.Layouts{}, errors.New("gone")
			}
			of := format.LayoutAlone(bits.LongLived())
			of.Earlier = []lease.EarlierLayout{{Layout: bits.Fleet(), Numbers: lease.Range{To: 5}}}
			return of, nil
		}}
		for minute, want := range [][]bits.Layout{{own}, {bits.LongLived(), own}, {bits.LongLived(), own}} {
			answers = minute == 1
			for range 2 {
				ids, err := entry.read(t.Context())
				if err != nil || len(ids.Allocators) != len(want) || asked != minute+1 {
					t.Fatalf("minute %d: %v, %v after %d requests", minute, ids, err, asked)
				}
				for i, layout := range want {
					if got := ids.Allocators[i].Layout(); got != layout {
						t.Errorf("minute %d: layout %d is %s, want %s", minute, i, got, layout)
					}
				}
			}
			time.Sleep(2 * freshFor)
		}
	})
}
