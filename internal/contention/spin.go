package contention

import "sync"

// tries take about a microsecond, longer than such a mutex is held.
const tries = 1000

// Lock locks mu. Lock tries for about a microsecond before it blocks, because a
// goroutine that blocks may leave its core idle for longer. The runtime tries too, but
// not while another goroutine is about to run on the same core, such as one that
// was just woken up.
func Lock(mu *sync.Mutex) {
	for range tries {
		if mu.TryLock() {
			return
		}
	}
	mu.Lock()
}
