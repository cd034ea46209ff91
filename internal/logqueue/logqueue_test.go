package logqueue

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Lines are written in order. Of lines that wait for a handler, the oldest are discarded.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j Queue
		var written []int
		block := make(chan struct{})
		for i := range 1 + 3*pending {
			j.Add(func() { <-block; written = append(written, i) })
			synctest.Wait() // the first line is with the handler
		}
		began := time.Now()
		ending, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if j.Flush(ending); time.Since(began) != time.Second {
			t.Errorf("flush returned after %v while the handler waits", time.Since(began))
		}
		close(block)
		j.Flush(t.Context())
		want := []int{0}
		for i := range pending {
			want = append(want, 1+2*pending+i)
		}
		if !slices.Equal(written, want) {
			t.Errorf("wrote %v, want %v", written, want)
		}
		j.Add(func() { written = nil })
		if j.Flush(t.Context()); written != nil {
			t.Error("the line after a pause is not written")
		}
		j.Flush(t.Context()) // of nothing
	})
}
