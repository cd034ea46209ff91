package readme

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// docs/layouts.svg shows the presets as they are: a bit is 10 wide, and 63 bits end at 730.
func TestLayouts(t *testing.T) {
	bar := regexp.MustCompile(`<rect x="(\d+)" y="\d+" width="(\d+)" height="24" class="(\w+)"/><text x="\d+" y="\d+">(\d+ bits)</text>`)
	rows := strings.Split(read(t, "docs/layouts.svg"), "</g>\n")
	names := []string{"fleet", "registry", "long-lived", "js-safe", "snowflake", "baidu"}
	if len(rows) != len(names)+1 {
		t.Fatalf("docs/layouts.svg has %d rows, want %d", len(rows)-1, len(names))
	}
	for i, name := range names {
		layout, err := bits.ParseLayout(name)
		need.Must(t, err)
		var got, want []string
		for _, found := range bar.FindAllStringSubmatch(rows[i], -1) {
			got = append(got, strings.Join(found[1:], " "))
		}
		x := 730 - 10*layout.Bits()
		for _, part := range []struct {
			name string
			bits uint8
		}{{"time", layout.TimeBits}, {"worker", layout.WorkerBits}, {"sequence", layout.SequenceBits}} {
			want = append(want, fmt.Sprintf("%d %d %s %d bits", x, 10*int(part.bits)-1, part.name, part.bits))
			x += 10 * int(part.bits)
		}
		if !strings.Contains(rows[i], ">"+name+"</text>") || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("docs/layouts.svg has %q, want %q for %s", got, want, name)
		}
	}
}

// docs/time.svg shows the default times.
func TestTimes(t *testing.T) {
	picture := read(t, "docs/time.svg")
	for name, d := range map[string]time.Duration{
		"MaxAge": uid.DefaultMaxAge, "the ring": bits.Fleet().Unit << uid.DefaultBoostPower, "MaxBorrow": uid.DefaultMaxBorrow, "Window": lease.DefaultWindow,
	} {
		_, shown, _ := strings.Cut(picture, ">"+name+", ")
		shown, _, _ = strings.Cut(shown, ":")
		var n int
		var word string
		_, err := fmt.Sscan(shown, &n, &word)
		unit := map[string]time.Duration{"hour": time.Hour, "minute": time.Minute, "second": time.Second}[strings.TrimSuffix(word, "s")]
		if err != nil || unit == 0 || int(d/unit) != n || d%unit != 0 {
			t.Errorf("docs/time.svg has %q of %s, want %v", shown, name, d)
		}
	}
}
