package contention_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/uidring/uidring/internal/contention"
)

// Whether Lock finds the mutex free, or has to block, one goroutine at a time holds it.
func TestLock(t *testing.T) {
	var mu sync.Mutex
	var goroutines sync.WaitGroup
	held, locked := 0, 0
	for range 8 {
		goroutines.Go(func() {
			for i := range 1000 {
				contention.Lock(&mu)
				if held++; held != 1 {
					t.Errorf("%d goroutines hold the mutex", held)
				}
				if i%100 == 0 {
					runtime.Gosched() // so that others block
				}
				held--
				locked++
				mu.Unlock()
			}
		})
	}
	goroutines.Wait()
	if locked != 8000 {
		t.Errorf("locked %d times, want 8,000", locked)
	}
}
