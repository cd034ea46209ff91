package uid_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uidring/uidring/uid"
)

// held is a clock that holds up one reading: a call is then under way, with all
// but the time in its hands.
type held struct {
	*clock
	armed   atomic.Bool
	reading chan struct{}
	goOn    chan struct{}
}

func holdUp(c *clock) *held {
	return &held{clock: c, reading: make(chan struct{}), goOn: make(chan struct{})}
}

func (h *held) now() time.Time {
	now := h.clock.now()
	if h.armed.CompareAndSwap(true, false) {
		h.reading <- struct{}{}
		<-h.goOn
	}
	return now
}

// next has one call of Next held up while meanwhile runs.
func (h *held) next(gen uid.Generator, meanwhile func()) (id uid.ID, err error) {
	h.armed.Store(true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		id, err = gen.Next()
	}()
	<-h.reading
	meanwhile()
	close(h.goOn)
	<-done
	return id, err
}

// What Close gives back is not issued any more, not even by a call that began
// before it.
func TestDefaultClosedUnderACall(t *testing.T) {
	config, c := leased()
	h := holdUp(c)
	config.Now = h.now
	f := &fakeLeaser{number: 7, until: at(100)}
	gen := under(t, "default", f, config)
	mustNext(t, gen)
	c.step(time.Second)
	id, err := h.next(gen, func() { gen.Close() })
	if err != uid.ErrClosed {
		t.Errorf("Next() = %d, %v, after the time from %v on was given back; want ErrClosed", id, err, f.released[0])
	}
}

// A call that began under one number does not stamp under it after another has been
// granted, even if all ids of the tick were issued.
func TestDefaultChangesNumberUnderACall(t *testing.T) {
	for sequenceBits := range uint8(2) {
		config, c := leased()
		h := holdUp(c)
		config.Now = h.now
		config.Layout.SequenceBits = sequenceBits
		f := &fakeLeaser{number: 7, until: at(100)}
		gen := under(t, "default", f, config)
		last := mustNext(t, gen)
		c.step(time.Second)
		id, err := h.next(gen, func() {
			f.losing(3, at(100))
			c.step(time.Second) // for the next reading
		})
		if parts, _ := gen.Parse(id); err != nil || parts.Worker != 3 || id <= last {
			t.Errorf("Next() = id %d of worker %d, %v after %d; want one of worker 3", id, parts.Worker, err, last)
		}
		c.step(time.Second)
		if next := mustNext(t, gen); next <= id || gen.Stats().Issued != 3 {
			t.Errorf("id %d after %d, and %d issued", next, id, gen.Stats().Issued)
		}
	}
}

// A RejectedPut that waits for an id, when the number is lost, does not hold up
// whoever takes the next number.
func TestRejectedPutMayWait(t *testing.T) {
	f := &fakeLeaser{number: 1}
	config, _ := leased()
	got := make(chan uid.ID, 100)
	var gen *uid.Cached
	config.RejectedPut = func(_ uid.Run, why error) {
		if errors.Is(why, uid.ErrWorkerLost) {
			id, _ := gen.Wait(context.Background())
			got <- id
		}
	}
	gen = under(t, "cached", f, config).(*uid.Cached)
	f.granted(-1, time.Time{}, time.Time{}, nil) // returns at once
	f.granted(2, time.Time{}, time.Time{}, nil)
	if parts, err := gen.Parse(<-got); err != nil || parts.Worker != 2 {
		t.Errorf("the handler drew an id of %+v, %v, want one of worker 2", parts, err)
	}
}
