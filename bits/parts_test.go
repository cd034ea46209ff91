package bits_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
)

func TestWorkerParts(t *testing.T) {
	for text, want := range map[string][]bits.WorkerPart{
		"41/datacenter:5+machine:5/12,unit=1ms": {{"datacenter", 5, 3}, {"machine", 5, 17}},
		"41/5+5/12,unit=1ms":                    {{"part1", 5, 3}, {"part2", 5, 17}},
		"41/zone-1:3+2+n_2:5/12,unit=1ms":       {{"zone-1", 3, 0}, {"part2", 2, 3}, {"n_2", 5, 17}},
		"41/node:10/12,unit=1ms":                {{"node", 10, 3<<5 | 17}},
		"41/10/12,unit=1ms":                     {{"worker", 10, 3<<5 | 17}},
	} {
		a := mustAllocator(t, mustLayout(t, text))
		got, err := a.SplitWorker(3<<5 | 17)
		if !slices.Equal(got, want) || err != nil {
			t.Errorf("%s: SplitWorker = %+v, %v, want %+v", text, got, err, want)
		}
		// The parts handed out are the caller's.
		got[0].Name = "spoiled"
		if again, _ := a.SplitWorker(0); again[0].Name != want[0].Name {
			t.Errorf("%s: the first part is now %q", text, again[0].Name)
		}
	}
}

func TestWorkerPartsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"41/5+/12":        `part "" of the worker in "5+", want a width from 1 to 63, such as 5, or a name and a width, such as machine:5`,
		"41/0+5/12":       `part "0" of`,
		"41/05+5/12":      `part "05" of`,
		"41/5+-5/12":      `part "-5" of`,
		"41/64+5/12":      `part "64" of`,
		"41/:5/12":        `part ":5" of`,
		"41/5:machine/12": `part "5:machine" of`,
		"41/1a:5/12":      `part "1a:5" of`,
		"41/a b:5/12":     `part "a b:5" of`,
		"41/a:5+a:5/12":   `two parts of the worker number are named a in "a:5+a:5"`,
		"41/part2:5+5/12": `two parts of the worker number are named part2`,
		"41/60+60/12":     `width "120"`,
		"41/9+5/12":       `41 + 14 + 12 = 67`,
	} {
		_, err := bits.ParseLayout(text)
		need.Error(t, err, bits.ErrLayout, want)
	}
	layout := bits.Snowflake()
	layout.WorkerParts = "4+5"
	need.Error(t, layout.Validate(), bits.ErrLayout, `WorkerParts is "4+5" with 9 bits in all, want WorkerBits (10)`)
	layout.WorkerParts = "datacenter:5+machine:5"
	a := mustAllocator(t, layout)
	for want, values := range map[string][]int64{
		"machine is 32, want 0 to 31":                   {0, 32},
		"datacenter is -1, want 0 to 31":                {-1, 0},
		"1 parts of a worker number, want 2 for 41/dat": {1},
	} {
		_, err := a.JoinWorker(values...)
		need.Error(t, err, bits.ErrRange, want)
	}
	for _, worker := range []int64{-1, 1024} {
		_, err := a.SplitWorker(worker)
		need.Error(t, err, bits.ErrRange, fmt.Sprint(worker))
	}
}

// The ranges of a part's values follow each other, and together are all numbers.
func TestWorkerRange(t *testing.T) {
	for _, text := range []string{"41/region:5+machine:5/12,unit=1ms", "41/region:10/12,unit=1ms"} {
		a := mustAllocator(t, mustLayout(t, text))
		next := int64(0)
		for region := int64(0); next <= a.MaxWorker(); region++ {
			first, last, err := a.WorkerRange(fmt.Sprint("region=", region))
			if err != nil || first != next || last < first {
				t.Fatalf("region %d of %s: %d to %d, %v; want it to begin at %d", region, text, first, last, err, next)
			}
			next = last + 1
		}
		if next != a.MaxWorker()+1 {
			t.Errorf("%s: the ranges end before %d; want %d", text, next, a.MaxWorker()+1)
		}
		for _, site := range []string{"region=1024", "region=-1", "region", "machine=1", "=1", "region=x", "3"} {
			_, _, err := a.WorkerRange(site)
			need.Error(t, err, bits.ErrRange)
		}
	}
}

// The name of a part begins with an ASCII letter, and goes on with letters, digits, _
// and -.
func TestWorkerPartNames(t *testing.T) {
	for c := range rune(256) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		other := c >= '0' && c <= '9' || c == '_' || c == '-'
		for name, want := range map[string]bool{string(c): letter, "a" + string(c): letter || other, "a" + string(c) + "b": letter || other} {
			layout := bits.Snowflake()
			layout.WorkerParts = name + ":10"
			if err := layout.Validate(); (err == nil) != want {
				t.Errorf("part %q: %v, want it valid: %v", name, err, want)
			}
		}
	}
}
