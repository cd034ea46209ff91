package bench

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

func TestFanMakesEveryCallOnce(t *testing.T) {
	for _, goroutines := range []int{1, 2, 7, 64} {
		for _, calls := range []int{1, 2, 63, 1000, 123_457} {
			var made atomic.Int64
			_, err := Fan(func(n int) (uint64, error) {
				if n < 1 {
					t.Errorf("a batch of %d", n)
				}
				made.Add(int64(n))
				return 0, nil
			}, goroutines, calls)
			if err != nil || made.Load() != int64(calls) {
				t.Errorf("%d goroutines made %d of %d calls: %v", goroutines, made.Load(), calls, err)
			}
		}
	}
}

func TestFanReturnsTheError(t *testing.T) {
	broken := errors.New("broken")
	fail := func(int) (uint64, error) { return 0, broken }
	for _, goroutines := range []int{1, 5} {
		if _, err := Fan(fail, goroutines, 100); !errors.Is(err, broken) {
			t.Errorf("%d goroutines: %v", goroutines, err)
		}
		if _, err := Calls(fail, goroutines, time.Millisecond); !errors.Is(err, broken) {
			t.Errorf("Calls with %d goroutines: %v", goroutines, err)
		}
	}
}
