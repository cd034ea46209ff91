package uidtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidtest"
	"github.com/uidring/uidring/worker/lease"
)

// Order and place are the code under test. place declares the one method that it calls.
type Order struct {
	ID    uid.ID `json:"id"`
	Buyer string `json:"buyer"`
}

func place(ids interface{ Next() (uid.ID, error) }, buyer string) (Order, error) {
	id, err := ids.Next()
	if err != nil {
		return Order{}, fmt.Errorf("no order for %s: %w", buyer, err)
	}
	return Order{id, buyer}, nil
}

// The ids are known, so a test compares whole documents.
func ExampleNewSequence() {
	t := new(testing.T) // the test's own
	gen := uidtest.NewSequence(t, 1000)
	for _, buyer := range []string{"Ada", "Grace"} {
		order, err := place(gen, buyer)
		document, _ := json.Marshal(order)
		fmt.Println(string(document), err)
	}
	// Output:
	// {"id":"1000","buyer":"Ada"} <nil>
	// {"id":"1001","buyer":"Grace"} <nil>
}

// health answers 503 while the generator can make no further ids.
func health(gen interface{ Stats() uid.Stats }) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if s := gen.Stats(); s.Failing() || s.Closed {
			http.Error(w, "no ids are made", http.StatusServiceUnavailable)
		}
	}
}

// A generator without ids: the code under test reports the error, and so does the health
// check.
func ExampleFake_Fail() {
	t := new(testing.T)
	gen := uidtest.NewSequence(t, 1000)
	for _, err := range []error{uid.ErrReservation, nil} {
		gen.Fail(err)
		_, err = place(gen, "Ada")
		answer := httptest.NewRecorder()
		health(gen)(answer, nil)
		fmt.Println(answer.Code, err)
	}
	// Output:
	// 503 no order for Ada: uid: time is not reserved
	// 200 <nil>
}

// Ids carry the time of a clock that the test moves.
func ExampleNewClocked() {
	t := new(testing.T)
	clock := uidtest.NewClock(time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC))
	gen := uidtest.NewClocked(t, clock, bits.Layout{})
	for range 2 {
		order, _ := place(gen, "Ada")
		parts, _ := gen.Parse(order.ID)
		fmt.Println(order.ID, parts.Time.Format(time.DateOnly))
		clock.Advance(24 * time.Hour)
	}
	// Output:
	// 3644241954943795712 2026-11-20
	// 3644613040118170112 2026-11-21
}

// Generators in memory take their numbers from one WorkerSource. It takes them away, as a store
// does that nobody could reach for long.
func ExampleWorkerSource() {
	source := new(uidtest.WorkerSource)
	gen, err := uid.NewDefault(context.Background(), source, uid.DefaultConfig{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()
	source.Lose(lease.ErrLost)
	_, err = place(gen, "Ada")
	fmt.Println(errors.Is(err, uid.ErrReservation), gen.Stats().Clock.LeaseError)
	// Output: true lease: the number is lost
}
