package agreement_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/worker/internal/agreement"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// Each change of a layout keeps those before, as short as they can be written, and reads as it was written.
func TestNext(t *testing.T) {
	is := agreement.Agreement{Layout: bits.Registry().String(), Numbers: agreement.All}
	for _, step := range []struct {
		to   bits.Layout
		used int64
		want string
	}{
		{bits.Fleet(), 5000, "31/16/16,epoch=2026-01-01,unit=1s,numbers=5001-65535,after=registry:5000"},
		{bits.LongLived(), 5001, "31/23/9,epoch=2026-01-01,unit=1s,numbers=640256-8388607,after=registry:5000;fleet:5001"},
	} {
		next, err := is.Next(step.to, step.used)
		if err != nil || next.String() != step.want {
			t.Fatalf("%s, %v; want %s", next, err, step.want)
		}
		if read, err := agreement.Parse(step.want); err != nil || read.String() != step.want || read.Numbers != next.Numbers {
			t.Errorf("%+v, %v; want %+v", read, err, next)
		}
		is = next
	}
	layouts, numbers, err := is.Past()
	if want := []leasestore.Range{{From: 0, To: 5000}, {From: 5001, To: 5001}}; err != nil || !slices.Equal(layouts, []bits.Layout{bits.Registry(), bits.Fleet()}) || !slices.Equal(numbers, want) {
		t.Errorf("%v, %v, %v; want the numbers %v of the layouts before", layouts, numbers, err, want)
	}
	if _, err := is.Next(bits.Snowflake(), 640256); !errors.Is(err, agreement.ErrUnsafe) || !strings.Contains(err.Error(), "number") {
		t.Errorf("%v; want that no number is safe", err)
	}
	custom, err := bits.ParseLayout("41/10/12,epoch=2026-01-01T00:00:00.5Z,unit=1ms")
	if err != nil {
		t.Fatal(err)
	}
	long := agreement.Agreement{Layout: custom.String(), Numbers: agreement.All, Earlier: []agreement.Earlier{{custom.String(), 3}}}
	if _, err := long.Next(custom, 5); err == nil || !strings.Contains(err.Error(), "no room to remember another layout") {
		t.Errorf("%v; want that the store has no room", err)
	}
}

// Before a number was given, all are safe.
func TestNextOfNoIDs(t *testing.T) {
	next, err := agreement.Agreement{Layout: bits.Registry().String(), Numbers: agreement.All}.Next(bits.Fleet(), -1)
	if err != nil || next.String() != bits.Fleet().String() {
		t.Errorf("%s, %v", next, err)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]leasestore.Range{
		"A":                              agreement.All,
		"A,numbers=5-9":                  {From: 5, To: 9},
		"A,numbers=5-9,after=B,C:3;D:4":  {From: 5, To: 9},
		"A,numbers=5-9,changing=ABCDEFG": {From: 5, To: 9},
	} {
		a, err := agreement.Parse(text)
		if err != nil || a.Layout != "A" || a.Numbers != want || a.String() != text {
			t.Errorf("%s: %+v, %v", text, a, err)
		}
		if _, err := agreement.Read(text); (err != nil) != (a.Change != "") {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"A,numbers=5", "A,numbers=5-x", "A,after=B", "A,after=B:x"} {
		if a, err := agreement.Parse(text); err == nil {
			t.Errorf("%s: %+v, want an error", text, a)
		}
	}
}
