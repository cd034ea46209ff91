package uid

import (
	"log/slog"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/worker/lease"
)

// While the number changes, no tick may be stamped, even if the leaser goes from one
// number to another without saying that the first is lost.
func TestNothingIsStampedWhileTheNumberChanges(t *testing.T) {
	var s stamp
	if err := s.prepare(invalid.Of("uid", ErrConfig), StaticWorker(1), bits.Default(), bits.Layout{}, nil, slog.Default()); err != nil {
		t.Fatal(err)
	}
	var numbers []int64
	s.numbered = func(next *grant) {
		numbers = append(numbers, next.worker)
		if now := s.grant.Load(); now.first <= now.last {
			t.Errorf("ticks %d to %d may be stamped under %d while the number becomes %d", now.first, now.last, now.worker, next.worker)
		}
	}
	for _, number := range []int64{1, 2, 2, 3} {
		s.granted(lease.Grant{Held: true, Number: number})
		if w := s.grant.Load(); w.worker != number || !w.covers(s.bits.Tick(time.Now())) {
			t.Errorf("%+v after number %d was granted", w, number)
		}
	}
	if len(numbers) != 3 || s.changes.Load() != 2 {
		t.Errorf("numbers %v, %d changes; want 3 numbers and 2 changes", numbers, s.changes.Load())
	}
}
