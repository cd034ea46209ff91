package uid_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/ringbuffer"
	"github.com/uidring/uidring/uid"
)

// A source that has ended is not asked about again, nor is a policy.
func TestSourceThatEnded(t *testing.T) {
	spent := errors.New("spent")
	c := new(counting)
	d := newDealer(t, c.source, uid.DealerConfig{
		RejectedTake: func(r uid.Refusal) error { t.Errorf("the policy was told %+v", r); return nil },
		Ended:        func() bool { return c.fails.Load() != nil },
	})
	if err := d.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.fail(spent)
	if n, err := d.NextN(make([]uid.ID, 17)); n != 16 || err != spent {
		t.Errorf("NextN() = %d, %v, want 16 and %v", n, err, spent)
	}
}

// A call that fails goes on with the successor.
func TestSuccessor(t *testing.T) {
	spent, followed := errors.New("spent"), 0
	next := newDealer(t, (&counting{next: 100}).source, uid.DealerConfig{})
	dealer := func() *uid.Dealer {
		c := new(counting)
		d := newDealer(t, c.source, uid.DealerConfig{Successor: func(err error) *uid.Dealer {
			if followed++; err != spent {
				t.Errorf("the successor of %v is asked for, want that of %v", err, spent)
			}
			return next
		}})
		if err := d.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.fail(spent)
		return d
	}
	all := make([]uid.ID, 40)
	for name, fill := range map[string]func(*uid.Dealer) (int, error){
		"NextN": func(d *uid.Dealer) (int, error) { return d.NextN(all) },
		"WaitN": func(d *uid.Dealer) (int, error) { return d.WaitN(t.Context(), all) },
		"All": func(d *uid.Dealer) (n int, err error) {
			for all[n], err = range d.All(t.Context()) {
				if n++; err != nil || n == len(all) {
					break
				}
			}
			return n, err
		},
	} {
		followed = 0
		if n, err := fill(dealer()); n != 40 || err != nil || all[15] != 16 || all[16] <= 400 || !slices.IsSorted(all) || followed == 0 {
			t.Errorf("%s: %d ids, %v, %v, after %d steps to the successor, want 16 ids, then the successor's", name, n, err, all, followed)
		}
	}
	d := dealer()
	_, _ = d.NextN(all[:16])
	for name, take := range map[string]func() (uid.ID, error){
		"Next": d.Next,
		"Wait": func() (uid.ID, error) { return d.Wait(t.Context()) },
	} {
		if id, err := take(); id <= 400 || err != nil {
			t.Errorf("%s() = %d, %v, want an id of the successor", name, id, err)
		}
	}
	if s := d.Stats(); s.RejectedTakes != 0 || s.Starved != 2 {
		t.Errorf("Stats() = %+v, want 2 calls that found nothing, and none that failed", s)
	}
}

// Release is called once, with all that was not dealt, and its error is Close's.
func TestReleaseGetsTheRest(t *testing.T) {
	for taken, want := range map[int][]ringbuffer.Run{
		0:  {{First: 1, N: 16}},
		1:  {{First: 2, N: 15}},
		7:  {{First: 8, N: 9}},
		16: nil,
	} {
		c := new(counting)
		var rests [][]ringbuffer.Run
		unwell := errors.New("unwell")
		d := newDealer(t, c.source, uid.DealerConfig{PaddingFactor: 1, Release: func(_ context.Context, rest []ringbuffer.Run) error {
			rests = append(rests, rest)
			return unwell
		}})
		if err := d.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.fail(later(time.Hour)) // so that the ring is not filled again
		if n, err := d.NextN(make([]uid.ID, taken)); n != taken || err != nil {
			t.Fatalf("NextN() = %d, %v", n, err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if err := d.Close(); !errors.Is(err, unwell) {
					t.Errorf("Close() = %v, want %v", err, unwell)
				}
			})
		}
		wg.Wait()
		if len(rests) != 1 || !slices.Equal(rests[0], want) {
			t.Errorf("after %d ids Release got %+v, want %+v once", taken, rests, want)
		}
	}
}

func TestDealerRefusesAConfig(t *testing.T) {
	_, err := uid.NewDealer(new(counting).source, uid.DealerConfig{Runs: 3, RunLen: 5, PaddingFactor: 100})
	if err == nil || !strings.Contains(err.Error(), "Runs is 3") || !strings.Contains(err.Error(), "RunLen is 5") {
		t.Errorf("NewDealer() = %v, want both faults", err)
	}
}
