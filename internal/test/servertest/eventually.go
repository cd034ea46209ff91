package servertest

import (
	"testing"
	"time"
)

// Eventually waits until holds returns true. It fails the test after two minutes, which
// are enough on any machine.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("this did not come true: %s", what)
		}
	}
}
