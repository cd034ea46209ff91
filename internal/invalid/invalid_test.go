package invalid_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/invalid"
)

var errSecret = errors.New("other: not a schedule")

// Every wrong field is in the text, and is found however the errors were joined and
// wrapped. Fields of another package's config become those of the one that adopts them.
func TestList(t *testing.T) {
	inner := invalid.Of("inner")
	if err := inner.Err(); err != nil {
		t.Fatalf("Err() of no field = %v", err)
	}
	invalid.Range(inner, "Runs", 3, 4, 5)
	invalid.Range(inner, "Rate", math.NaN(), 0, 1)
	invalid.Range(inner, "Right", 4, 4, 5)
	invalid.Positive(inner, "Idle", time.Duration(0))
	invalid.Positive(inner, "Wait", time.Nanosecond)
	outer := invalid.Of("outer").Add("Step", -1, "1 or more")
	outer.Wrap("Schedule", errSecret)
	outer.Wrap("Layout", nil)
	outer.Join(fmt.Errorf("new: %w", errors.Join(inner.Err())))
	outer.Join(errSecret)
	outer.Join(nil)

	err := fmt.Errorf("start: %w", errors.Join(outer.Err(), inner.Err()))
	const want = `start: outer: invalid config: Step is -1, want 1 or more
outer: invalid config: Schedule: other: not a schedule
outer: invalid config: Runs is 3, want 4 to 5
outer: invalid config: Rate is NaN, want 0 to 1
outer: invalid config: Idle is 0s, want more than 0
other: not a schedule
inner: invalid config: Runs is 3, want 4 to 5
inner: invalid config: Rate is NaN, want 0 to 1
inner: invalid config: Idle is 0s, want more than 0`
	if err.Error() != want {
		t.Errorf("the error is\n%v\nwant\n%s", err, want)
	}
	for _, sentinel := range []error{invalid.ErrConfig, errSecret} {
		if !errors.Is(err, sentinel) {
			t.Errorf("the error does not match %v", sentinel)
		}
	}
	names := ""
	for field := range invalid.Fields(err) {
		names += field.Name + " "
	}
	if want := "Step Schedule Runs Rate Idle Runs Rate Idle "; names != want {
		t.Errorf("the fields are %s, want %s", names, want)
	}
	for range invalid.Fields(err) {
		break
	}
}
