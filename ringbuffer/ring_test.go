package ringbuffer_test

import (
	"errors"
	"math"
	"runtime"
	"testing"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/ringbuffer"
)

func mustNew(t interface {
	Helper()
	Fatal(...any)
}, config ringbuffer.Config) *ringbuffer.Ring {
	t.Helper()
	r, err := ringbuffer.New(config)
	need.Must(t, err)
	return r
}

func mustPut(t *testing.T, r *ringbuffer.Ring, first, n int64) {
	t.Helper()
	need.Must(t, r.Put(ringbuffer.Run{First: first, N: n}))
}

// The capacity of the original wraps at 2^26 and a boost of 33 means 1.
func TestCapacityDoesNotWrap(t *testing.T) {
	if r, err := ringbuffer.New(ringbuffer.Config{}); err != nil || r.Capacity() != 65536 {
		t.Errorf("New() without a config: %v", err)
	}
	for _, test := range []struct {
		runs, runLen int64
		ok           bool
	}{
		{1, 1, true},
		{8, 1 << 13, true},
		{1 << 20, 1 << 42, true},
		{1 << 20, 1 << 43, false},
		{2, 1 << 62, false},
		{1, math.MinInt64, false},
		{math.MinInt64, 1, false},
		{1 << 21, 1, false},
	} {
		r, err := ringbuffer.New(ringbuffer.Config{Runs: test.runs, RunLen: test.runLen})
		if (err == nil) != test.ok || !test.ok && !errors.Is(err, ringbuffer.ErrConfig) {
			t.Errorf("New(%d × %d): error %v, want none: %v", test.runs, test.runLen, err, test.ok)
		}
		if err == nil && r.Capacity() != test.runs*test.runLen {
			t.Errorf("Capacity() = %d, want %d", r.Capacity(), test.runs*test.runLen)
		}
	}
}

func TestPutRefusesWhatWouldRepeat(t *testing.T) {
	r := mustNew(t, ringbuffer.Config{Runs: 8, RunLen: 8})
	mustPut(t, r, 10, 8)
	for _, run := range []ringbuffer.Run{
		{First: 10, N: 8},
		{First: 17, N: 1},
		{First: 0, N: 8},
		{First: -1, N: 100},
		{First: 18, N: 0},
		{First: 18, N: 9},
		{First: 18, N: -1},
		{First: math.MaxInt64, N: 2},
	} {
		if err := r.Put(run); !errors.Is(err, ringbuffer.ErrOrder) {
			t.Errorf("Put(%+v) = %v, want %v", run, err, ringbuffer.ErrOrder)
		}
	}
	for want := int64(10); want < 18; want++ {
		if got, err := r.Take(); got != want || err != nil {
			t.Errorf("Take() = %d, %v, want %d", got, err, want)
		}
	}
}

// A run that is being dealt keeps its room, though its slot is free.
func TestPutCountsTheRunThatIsDealt(t *testing.T) {
	r := mustNew(t, ringbuffer.Config{Runs: 2, RunLen: 8})
	mustPut(t, r, 10, 8)
	mustPut(t, r, 20, 8)
	_, err := r.Take()
	need.Must(t, err)
	need.Error(t, r.Put(ringbuffer.Run{First: 30, N: 8}), ringbuffer.ErrFull)
	mustPut(t, r, 30, 1) // as many ids as there is room for
}

// low reports whether the ring asks to be filled.
func low(r *ringbuffer.Ring) bool {
	select {
	case <-r.Low():
		return true
	default:
		return false
	}
}

// TakeRun asks for more as Take does: that is all that wakes a padder where
// nobody calls Take.
func TestTakeRunSignalsLow(t *testing.T) {
	for _, limit := range []int64{1, 2, 1000} {
		r := mustNew(t, ringbuffer.Config{Runs: 4, RunLen: 2, Threshold: 4})
		for first := int64(0); first < 8; first += 2 {
			mustPut(t, r, first, 2)
		}
		for i, want := range []bool{false, false, true, true, true} {
			got := false
			for range 2 / min(limit, 2) {
				r.TakeRun(limit)
				got = low(r) || got
			}
			if got != want {
				t.Errorf("TakeRun(%d): after run %d low is %v, want %v", limit, i+1, got, want)
			}
		}
	}
}

func TestLowSignalsDoNotAddUp(t *testing.T) {
	r := mustNew(t, ringbuffer.Config{Runs: 4, RunLen: 2, Threshold: 4})
	for first := int64(0); first < 8; first += 2 {
		mustPut(t, r, first, 2)
	}
	// 2 ids a run. Behind the first wait 6, behind the second 4, which is not
	// below 4; behind the third 2.
	for i, want := range []bool{false, false, false, false, true, false, true, false} {
		_, err := r.Take()
		need.Must(t, err)
		if got := low(r); got != want {
			t.Errorf("after take %d: low is %v, want %v", i+1, got, want)
		}
	}
	for range 100 {
		r.Take()
	}
	if !low(r) || low(r) {
		t.Error("100 takes from an empty ring left no signal, or more than one")
	}
}

func TestRejectedTake(t *testing.T) {
	var r *ringbuffer.Ring
	r = mustNew(t, ringbuffer.Config{Runs: 1, RunLen: 1, RejectedTake: func() (int64, error) {
		if err := r.Put(ringbuffer.Run{First: 7, N: 1}); err != nil {
			return 0, err
		}
		return r.Take()
	}})
	if id, err := r.Take(); id != 7 || err != nil {
		t.Errorf("Take() = %d, %v, want 7: the handler put it", id, err)
	}
	r.Close()
	if _, err := r.Take(); err != ringbuffer.ErrClosed {
		t.Errorf("Take() after the handler failed: %v, want that of the handler", err)
	}
	r = mustNew(t, ringbuffer.Config{Runs: 1, RunLen: 1, RejectedTake: func() (int64, error) { return 9, nil }})
	if id, err := r.Take(); id != 9 || err != nil {
		t.Errorf("Take() = %d, %v, want the handler's 9", id, err)
	}
	if _, err := r.TryTake(); err != ringbuffer.ErrEmpty {
		t.Errorf("TryTake() = %v, want %v: it does not call the handler", err, ringbuffer.ErrEmpty)
	}
	if _, err := mustNew(t, ringbuffer.Config{Runs: 1, RunLen: 1}).Take(); err != ringbuffer.ErrEmpty {
		t.Errorf("Take() without a handler: %v, want %v", err, ringbuffer.ErrEmpty)
	}
}

// A ring of 65,536 ids, as uid-generator has by default, takes a mebibyte and a
// half there.
func TestMemory(t *testing.T) {
	const rings, most = 64, 16 << 10
	keep := make([]*ringbuffer.Ring, rings)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range keep {
		r := mustNew(t, ringbuffer.Config{Runs: 8, RunLen: 8192, Threshold: 32768})
		for tick := range int64(8) {
			mustPut(t, r, tick<<35, 8192)
		}
		keep[i] = r
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / rings; each > most {
		t.Errorf("a ring of 65,536 ids takes %d bytes, want at most %d", each, most)
	} else {
		t.Logf("a ring of 65,536 ids takes %d bytes", each)
	}
	runtime.KeepAlive(keep)
}

func TestTakeDoesNotAllocate(t *testing.T) {
	r := mustNew(t, ringbuffer.Config{Runs: 2, RunLen: 1 << 20})
	mustPut(t, r, 0, 1<<20)
	if n := testing.AllocsPerRun(1000, func() { r.Take(); r.TakeRun(64) }); n != 0 {
		t.Errorf("Take and TakeRun allocate %v times, want 0", n)
	}
}
