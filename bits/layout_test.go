package bits_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
)

var epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// tester is a test, or a draw of rapid.
type tester interface {
	Helper()
	Fatal(...any)
}

func mustAllocator(t tester, layout bits.Layout) *bits.Allocator {
	t.Helper()
	a, err := bits.NewAllocator(layout)
	need.Must(t, err)
	return a
}

func mustLayout(t tester, text string) bits.Layout {
	t.Helper()
	layout, err := bits.ParseLayout(text)
	need.Must(t, err)
	return layout
}

func TestValidateNamesEveryFault(t *testing.T) {
	for _, test := range []struct {
		layout bits.Layout
		wants  []string
	}{
		{bits.Layout{28, 22, 13, epoch, time.Second, ""}, nil},
		{bits.Layout{1, 0, 0, epoch, time.Second, ""}, nil},
		{bits.Layout{63, 0, 0, epoch, time.Second, ""}, nil},
		{bits.Layout{}, []string{"TimeBits is 0, want 1 to 63", "Epoch is not set", "Unit is 0s"}},
		// Sums to 63 in 8 bits.
		{bits.Layout{200, 100, 19, epoch, time.Second, ""}, []string{"TimeBits is 200", "200 + 100 + 19 = 319, want at most 63"}},
		{bits.Layout{28, 22, 14, epoch, time.Second, ""}, []string{"28 + 22 + 14 = 64, want at most 63"}},
		{bits.Layout{28, 22, 13, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Second, ""}, []string{"Epoch is in the year 10000, want 1 to 9999"}},
		{bits.Layout{28, 22, 13, time.Date(0, 12, 31, 0, 0, 0, 0, time.UTC), time.Second, ""}, []string{"Epoch is in the year 0, want 1 to 9999"}},
		{bits.Layout{28, 22, 13, epoch, -time.Second, ""}, []string{"Unit is -1s"}},
		{bits.Layout{28, 22, 13, epoch, 300 * time.Millisecond, ""}, []string{"Unit is 300ms"}},
		{bits.Layout{28, 22, 13, epoch, 1500 * time.Millisecond, ""}, []string{"Unit is 1.5s"}},
	} {
		if err := test.layout.Validate(); test.wants == nil {
			need.Must(t, err)
		} else {
			need.Error(t, err, bits.ErrLayout, test.wants...)
		}
	}
}

// An epoch of time.Now, with its monotonic clock, is the instant and no more.
func TestEpochOfTheClock(t *testing.T) {
	layout := bits.Registry()
	layout.Epoch = time.Now()
	got := mustAllocator(t, layout).Layout()
	if want, err := bits.ParseLayout(layout.String()); got != want || err != nil {
		t.Errorf("the layout is %+v, want %+v (%v)", got, want, err)
	}
}

// Methods of the zero Layout and of the zero Allocator do not panic.
func TestZeroValues(t *testing.T) {
	if got := (bits.Layout{}).End(); !got.IsZero() {
		t.Errorf("End() of the zero Layout is %v", got)
	}
	var a bits.Allocator
	if parts, err := a.Parse(0); parts != (bits.Parts{}) || err != nil {
		t.Errorf("Parse(0) by the zero Allocator = %+v, %v", parts, err)
	}
	if got := a.Tick(epoch); got != 0 {
		t.Errorf("Tick() by the zero Allocator = %d", got)
	}
}

func TestPresets(t *testing.T) {
	for _, test := range []struct {
		name   string
		layout bits.Layout
		bits   int
		end    string
	}{
		{"registry", bits.Registry(), 63, "2034-07-04T21:24:16Z"},
		{"baidu", bits.Baidu(), 63, "2024-11-20T21:24:16Z"},
		{"long-lived", bits.LongLived(), 63, "2094-01-19T03:14:08Z"},
		{"snowflake", bits.Snowflake(), 63, "2080-07-10T17:30:30.209Z"},
		{"fleet", bits.Fleet(), 63, "2094-01-19T03:14:08Z"},
		{"js-safe", bits.JSSafe(), 53, "2094-01-19T03:14:08Z"},
	} {
		need.Must(t, test.layout.Validate())
		if got := test.layout.Bits(); got != test.bits {
			t.Errorf("%s has %d bits, want %d", test.name, got, test.bits)
		}
		if got := test.layout.End().Format(time.RFC3339Nano); got != test.end {
			t.Errorf("%s ends at %s, want %s", test.name, got, test.end)
		}
		if got, err := bits.ParseLayout(test.name); got != test.layout || err != nil {
			t.Errorf("ParseLayout(%q) = %v, %v, want %v", test.name, got, err, test.layout)
		}
	}
	if got, want := len(bits.PresetNames()), 6; got != want {
		t.Errorf("%d names, want %d", got, want)
	}
}

func TestParseLayout(t *testing.T) {
	for text, want := range map[string]bits.Layout{
		"28/22/13":                                bits.Registry(),
		" 28/22/13 ":                              bits.Registry(),
		"31/23/9,epoch=2026-01-01":                bits.LongLived(),
		"41/10/12,unit=10ms, epoch=2020-02-29":    {41, 10, 12, time.Date(2020, 2, 29, 0, 0, 0, 0, time.UTC), 10 * time.Millisecond, ""},
		"baidu,epoch=2016-05-20T00:00:00+08:00":   {28, 22, 13, time.Date(2016, 5, 19, 16, 0, 0, 0, time.UTC), time.Second, ""},
		"1/0/0,epoch=1970-01-01T00:00:00.5Z":      {1, 0, 0, time.Unix(0, 5e8).UTC(), time.Second, ""},
		"snowflake":                               bits.Snowflake(),
		"20/10/10,unit=1h":                        {20, 10, 10, epoch, time.Hour, ""},
		"js-safe,unit=1s,epoch=2026-01-01":        bits.JSSafe(),
		"28/22/13,epoch=2026-01-01T00:00:00.000Z": bits.Registry(),
	} {
		got, err := bits.ParseLayout(text)
		if got != want || err != nil {
			t.Errorf("ParseLayout(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                            `"" is neither three widths, such as 31/16/16, nor one of fleet, registry, long-lived, js-safe, snowflake, baidu`,
		"twitter":                     `"twitter" is neither`,
		"28/22":                       `"28/22" is neither`,
		"28/22/13/1":                  `is neither`,
		"28/-1/13":                    `width "-1" in "28/-1/13", want a number from 0 to 63`,
		"28/22/x":                     `width "x"`,
		"256/0/0":                     `width "256"`,
		"28/22/14":                    `28 + 22 + 14 = 64`,
		"0/22/13":                     `TimeBits is 0`,
		"28/22/13,":                   `unknown option ""`,
		"28/22/13,zone=UTC":           `unknown option "zone=UTC"`,
		"28/22/13,epoch=yesterday":    `epoch "yesterday"`,
		"28/22/13,unit=second":        `unit "second"`,
		"28/22/13,unit=7ms":           `Unit is 7ms`,
		"28/22/13,unit=1s,unit=2s":    `unit is given twice`,
		"28/22/13 epoch=2026-01-01":   `width "13 epoch=2026-01-01"`,
		"28/22/13,epoch=2026-13-01":   `epoch "2026-13-01"`,
		"+28/22/13":                   `width "+28"`,
		"28/22/13,unit=9223372036855": `unit "9223372036855"`,
	} {
		_, err := bits.ParseLayout(text)
		need.Error(t, err, bits.ErrLayout, want)
	}
}

func TestLayoutInJSON(t *testing.T) {
	type config struct{ Layout bits.Layout }
	data, err := json.Marshal(config{bits.Snowflake()})
	if want := `{"Layout":"41/10/12,epoch=2010-11-04T01:42:54.657Z,unit=1ms"}`; string(data) != want || err != nil {
		t.Errorf("Marshal = %s, %v, want %s", data, err, want)
	}
	var back config
	if err := json.Unmarshal(data, &back); err != nil || back.Layout != bits.Snowflake() {
		t.Errorf("Unmarshal(%s) = %v, %v", data, back, err)
	}
	if err := json.Unmarshal([]byte(`{"Layout":"1/2"}`), &back); err == nil || back.Layout != bits.Snowflake() {
		t.Errorf("Unmarshal of a wrong layout: error %v, layout %v, want it left alone", err, back.Layout)
	}
	if data, err := json.Marshal(config{}); err == nil {
		t.Errorf("Marshal of the zero Layout = %s, want an error", data)
	}
}
