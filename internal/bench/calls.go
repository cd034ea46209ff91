package bench

import "time"

// Calls returns how many calls take about d when goroutines make them. It makes
// some itself to find out, which also warms the instance up.
func Calls(batch func(int) (uint64, error), goroutines int, d time.Duration) (int, error) {
	// A tenth is long enough to be typical of the rest and short enough not to
	// double the time of a run.
	const part = 10
	for calls := goroutines; ; {
		took, err := Fan(batch, goroutines, calls)
		if err != nil {
			return 0, err
		}
		if took >= d/part {
			return max(int(float64(calls)*float64(d)/float64(took)), 1), nil
		}
		// At most a hundredfold at a time: a first call may be untypically slow or
		// fast.
		more := float64(d/part) / float64(max(took, 1)) * 1.2
		calls = int(float64(calls)*min(more, 100)) + 1
	}
}
