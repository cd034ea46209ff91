package bits_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
)

func TestComposeRefusesWhatDoesNotFit(t *testing.T) {
	a := mustAllocator(t, bits.Registry())
	for _, test := range []struct {
		tick, worker, sequence int64
		want                   string
	}{
		{1 << 28, 0, 0, "tick is 268435456, want 0 to 268435455"},
		{-1, 0, 0, "tick is -1"},
		{0, 1 << 22, 0, "worker is 4194304, want 0 to 4194303"},
		{0, -1, 0, "worker is -1"}, // the original accepts it, and its ids are negative
		{0, 0, 8192, "sequence is 8192, want 0 to 8191"},
		{math.MaxInt64, math.MinInt64, -1, "sequence is -1"},
	} {
		_, err := a.Compose(test.tick, test.worker, test.sequence)
		need.Error(t, err, bits.ErrRange, test.want)
	}
}

func TestParseRefusesForeignIDs(t *testing.T) {
	for _, test := range []struct {
		layout bits.Layout
		id     int64
	}{
		{bits.Registry(), -1},
		{bits.Registry(), math.MinInt64},
		{bits.JSSafe(), 1 << 53},
		{bits.JSSafe(), math.MaxInt64},
	} {
		_, err := mustAllocator(t, test.layout).Parse(test.id)
		need.Error(t, err, bits.ErrForeign, fmt.Sprint(test.id))
	}
	_, err := mustAllocator(t, bits.JSSafe()).Parse(1<<53 - 1) // the last id
	need.Must(t, err)
}

func TestIDsOfAnInstant(t *testing.T) {
	a := mustAllocator(t, bits.Snowflake())
	at := time.Date(2026, 11, 20, 10, 0, 0, 123_456_789, time.FixedZone("", 3600))
	first, err := a.FirstID(at)
	need.Must(t, err)
	last, err := a.LastID(at)
	need.Must(t, err)
	tick := at.UnixMilli() - 1288834974657
	for _, test := range []struct {
		id   int64
		want bits.Parts
	}{
		{first, bits.Parts{Time: time.UnixMilli(at.UnixMilli()).UTC(), Tick: tick}},
		{last, bits.Parts{Time: time.UnixMilli(at.UnixMilli()).UTC(), Tick: tick, Worker: 1023, Sequence: 4095}},
		{first - 1, bits.Parts{Time: time.UnixMilli(at.UnixMilli() - 1).UTC(), Tick: tick - 1, Worker: 1023, Sequence: 4095}},
		{last + 1, bits.Parts{Time: time.UnixMilli(at.UnixMilli() + 1).UTC(), Tick: tick + 1}},
	} {
		if got, err := a.Parse(test.id); got != test.want || err != nil {
			t.Errorf("Parse(%d) = %+v, %v, want %+v", test.id, got, err, test.want)
		}
	}
	end := bits.Snowflake().End()
	for _, at := range []time.Time{bits.Snowflake().Epoch.Add(-1), end, {}, end.AddDate(1000, 0, 0)} {
		_, err := a.FirstID(at)
		need.Error(t, err, bits.ErrRange)
		_, err = a.LastID(at)
		need.Error(t, err, bits.ErrRange)
	}
	// The last tick of this layout is math.MaxInt64.
	nanos := mustAllocator(t, bits.Layout{TimeBits: 63, Epoch: at, Unit: 1})
	end63 := nanos.Layout().End()
	if id, err := nanos.FirstID(end63.Add(-1)); id != math.MaxInt64 || err != nil {
		t.Errorf("FirstID of the last tick = %d, %v, want %d", id, err, int64(math.MaxInt64))
	}
	for _, at := range []time.Time{end63, end63.AddDate(1000, 0, 0)} {
		_, err := nanos.FirstID(at)
		need.Error(t, err, bits.ErrRange)
	}
	if id, err := a.LastID(end.Add(-1)); id != math.MaxInt64 || err != nil {
		t.Errorf("LastID just before the end = %d, %v, want %d", id, err, int64(math.MaxInt64))
	}
}

// A layout of 63 bits uses up int64: no tick of its last second may be lost to
// caution about overflow, for the tick after it is where a generator stops.
func TestTickAtTheEndOfInt64(t *testing.T) {
	for _, unit := range []time.Duration{1, time.Microsecond, time.Millisecond, 10 * time.Millisecond} {
		a := mustAllocator(t, bits.Layout{TimeBits: 63, Epoch: time.Unix(1, 999_999_999).UTC(), Unit: unit})
		for _, back := range []int64{0, 1, 2, 1000, 1_000_000_000} {
			tick := math.MaxInt64 - back
			if got := a.Tick(a.Time(tick)); got != tick {
				t.Errorf("unit %v: tick of the time of tick %d is %d", unit, tick, got)
			}
			if got := a.Tick(a.Time(tick).Add(-1)); got != tick-1 {
				t.Errorf("unit %v: tick just before the time of tick %d is %d", unit, tick, got)
			}
		}
		end := a.Layout().End()
		if got := a.Tick(end); got != math.MaxInt64 {
			t.Errorf("unit %v: tick of the end is %d, want the greatest int64", unit, got)
		}
		if got := a.Tick(time.Unix(end.Unix()+1<<40, 0)); got != math.MaxInt64 {
			t.Errorf("unit %v: tick long after the end is %d, want the greatest int64", unit, got)
		}
	}
}

// What does not fit 64 bits on the way is the latest instant, or the greatest
// tick, and never a small one.
func TestTimeBeyondInt64(t *testing.T) {
	latest := time.Unix(1<<63-1-62135596800, 0)
	for _, layout := range []bits.Layout{
		{TimeBits: 63, Epoch: epoch, Unit: 24 * time.Hour}, // 2^63 days are 0 seconds modulo 2^64
		{TimeBits: 62, Epoch: epoch, Unit: 9 * time.Second},
		{TimeBits: 63, Epoch: epoch, Unit: time.Second},
	} {
		if got := layout.End(); !got.Equal(latest) {
			t.Errorf("%v ends at %v, want %v", layout, got, latest)
		}
	}
	a := mustAllocator(t, bits.Layout{TimeBits: 63, Epoch: epoch, Unit: 1})
	for _, at := range []struct{ seconds, nanos int64 }{
		{18_446_744_073, 800_000_000}, // 2^64 ns and some, by the carry from the last second
		{18_446_744_074, 0},           // and by the seconds alone
		{36_893_488_148, 0},           // 2^65 ns and some
		{9_223_372_037, 0},            // 2^63 ns and some
	} {
		if got := a.Tick(time.Unix(epoch.Unix()+at.seconds, at.nanos)); got != math.MaxInt64 {
			t.Errorf("tick of %+v after the epoch is %d, want the greatest int64", at, got)
		}
	}
	if got := a.Tick(time.Unix(epoch.Unix()-9_223_372_037, 0)); got != math.MinInt64 {
		t.Errorf("tick long before the epoch is %d, want the least int64", got)
	}
}

// layouts draws a valid layout.
func layouts(t *rapid.T) bits.Layout {
	timeBits := rapid.IntRange(1, 63).Draw(t, "time")
	workerBits := rapid.IntRange(0, 63-timeBits).Draw(t, "worker")
	workerParts := ""
	if workerBits > 1 && rapid.Bool().Draw(t, "parts") {
		high := rapid.IntRange(1, workerBits-1).Draw(t, "high part")
		workerParts = fmt.Sprintf("%d+low:%d", high, workerBits-high)
	}
	return bits.Layout{
		TimeBits:     uint8(timeBits),
		WorkerBits:   uint8(workerBits),
		SequenceBits: uint8(rapid.IntRange(0, 63-timeBits-workerBits).Draw(t, "sequence")),
		Epoch: time.Unix(rapid.Int64Range(-1<<33, 1<<33).Draw(t, "epoch"),
			rapid.SampledFrom([]int64{0, 1, 657e6, 999_999_999}).Draw(t, "nanosecond")).UTC(),
		Unit: rapid.SampledFrom([]time.Duration{
			1, time.Microsecond, time.Millisecond, 10 * time.Millisecond, time.Second, 10 * time.Second, 24 * time.Hour,
		}).Draw(t, "unit"),
		WorkerParts: workerParts,
	}
}

// roundTrip checks that a composed id parses to the same parts, that a worker number is
// joined from what it was split into, and that the layout survives as text. It checks
// that the time of a tick lies in that tick, and the instant before does not.
func roundTrip(t *rapid.T) {
	layout := layouts(t)
	a := mustAllocator(t, layout)
	tick := rapid.Int64Range(0, a.MaxTick()).Draw(t, "tick")
	worker := rapid.Int64Range(0, a.MaxWorker()).Draw(t, "worker number")
	sequence := rapid.Int64Range(0, a.MaxSequence()).Draw(t, "sequence number")
	id, err := a.Compose(tick, worker, sequence)
	if err != nil || id < 0 {
		t.Fatalf("%s: Compose(%d, %d, %d) = %d, %v", layout, tick, worker, sequence, id, err)
	}
	parts, err := a.Parse(id)
	if want := (bits.Parts{Time: a.Time(tick), Tick: tick, Worker: worker, Sequence: sequence}); parts != want || err != nil {
		t.Fatalf("%s: Parse(%d) = %+v, %v, want %+v", layout, id, parts, err, want)
	}
	plain := layout
	plain.WorkerParts = ""
	if other, err := mustAllocator(t, plain).Compose(tick, worker, sequence); other != id || err != nil {
		t.Fatalf("%s: Compose(%d, %d, %d) = %d, %v without parts, want %d", layout, tick, worker, sequence, other, err, id)
	}
	var values []int64
	split, err := a.SplitWorker(worker)
	for _, part := range split {
		values = append(values, part.Value)
	}
	if joined, jerr := a.JoinWorker(values...); joined != worker || err != nil || jerr != nil {
		t.Fatalf("%s: number %d split into %v, %v, and joined to %d, %v", layout, worker, values, err, joined, jerr)
	}
	// The last ticks of some layouts are later than a time.Time can be: only earlier
	// ones can be compared.
	if a.Time(tick).Year() < 1_000_000 {
		if got := a.Tick(a.Time(tick)); got != tick {
			t.Fatalf("%s: tick of the time of tick %d is %d", layout, tick, got)
		}
		if got := a.Tick(a.Time(tick).Add(-1)); got != tick-1 {
			t.Fatalf("%s: tick just before the time of tick %d is %d", layout, tick, got)
		}
		first, err1 := a.FirstID(a.Time(tick))
		last, err2 := a.LastID(a.Time(tick))
		if err1 != nil || err2 != nil || id < first || id > last {
			t.Fatalf("%s: id %d of tick %d is not within [%d, %d] (%v, %v)", layout, id, tick, first, last, err1, err2)
		}
	}
	back, err := bits.ParseLayout(layout.String())
	if back != layout || err != nil {
		t.Fatalf("ParseLayout(%q) = %v, %v", layout.String(), back, err)
	}
}

func TestRoundTrip(t *testing.T) { rapid.Check(t, roundTrip) }

func FuzzRoundTrip(f *testing.F) { f.Fuzz(rapid.MakeFuzz(roundTrip)) }

// FuzzParseLayout: any text is read or refused, and what is read is valid and
// reads back the same.
func FuzzParseLayout(f *testing.F) {
	for _, text := range []string{"28/22/13", "snowflake,unit=1s", "1/2/3,epoch=2020-01-01", "baidu,epoch=x", "a/b/c,,", "9/a:2+3/1", "9/2+3+/1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		layout, err := bits.ParseLayout(text)
		if err != nil {
			need.Error(t, err, bits.ErrLayout)
			return
		}
		need.Must(t, layout.Validate())
		if back, err := bits.ParseLayout(layout.String()); back != layout || err != nil {
			t.Fatalf("ParseLayout(%q) = %v, read back from %q: %v, %v", text, layout, layout.String(), back, err)
		}
	})
}
