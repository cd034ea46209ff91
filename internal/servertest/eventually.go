package servertest

import (
	"testing"
	"time"
)

// Eventually waits until something is so. How long that takes is the machine's affair.
func Eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it never came to this: %s", what)
		}
	}
}
