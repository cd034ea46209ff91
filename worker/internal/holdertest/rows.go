package holdertest

import (
	"context"
	"testing"
	"time"

	"github.com/uidring/uidring/worker/lease/leasestore"
)

// Range has the numbers of the writes below.
var Range = leasestore.Range{To: 1023}

// Write is the first write of a holder.
func Write(number int64, token string) leasestore.Write {
	return leasestore.Write{
		Number: number, Token: token, Until: 100, Change: leasestore.Acquire, Expiry: time.Hour, Within: Range,
		Node: leasestore.Node{Host: "billing-7", Port: "8080", Type: leasestore.NodeActual},
	}
}

// Fresh is Write for a number that was never given.
func Fresh(token string) leasestore.Write {
	w := Write(-1, token)
	w.Fresh = true
	return w
}

// Inserts fails the test unless an insert makes the row of a number.
func Inserts(t testing.TB, s leasestore.Store, w leasestore.Write, want int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if number, done, err := s.Insert(ctx, w); number != want || !done || err != nil {
		t.Errorf("insert %+v: number %d, %t, %v; want number %d", w, number, done, err, want)
	}
}

// Swaps fails the test unless a swap is done, or not done, as it should.
func Swaps(t testing.TB, s leasestore.Store, old string, w leasestore.Write, want bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if done, err := s.Swap(ctx, old, w); done != want || err != nil {
		t.Errorf("swap %s for %+v: %t, %v; want %t", old, w, done, err, want)
	}
}
