package readme

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

var update = flag.Bool("update", false, "write the pictures of docs")

// drawn checks that a picture is as it is drawn now. This command writes the pictures:
//
//	go test ./internal/test/readme -run 'TestLayouts|TestTimes' -update
func drawn(t *testing.T, name, svg string) {
	t.Helper()
	if *update {
		need.Must(t, os.WriteFile(filepath.Join(top, "docs", name), []byte(svg), 0o644))
	}
	if read(t, "docs/"+name) != svg {
		t.Errorf("docs/%s is out of date: run this test with -update", name)
	}
}

// docs/layouts.svg shows the presets as they are.
func TestLayouts(t *testing.T) {
	const bit, left, row = 10, 100, 34
	names := []string{"fleet", "registry", "long-lived", "js-safe", "snowflake", "baidu"}
	var svg strings.Builder
	height := 40 + row*len(names)
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 %d" width="760" height="%[1]d" font-family="sans-serif" font-size="13">
<style>svg { background: #fff } text { fill: #1f2328 } .bits text { fill: #fff; text-anchor: middle } .time { fill: #0969da } .worker { fill: #8250df } .sequence { fill: #1a7f37 }
@media (prefers-color-scheme: dark) { svg { background: #0d1117 } text { fill: #f0f6fc } .time { fill: #1f6feb } .worker { fill: #8957e5 } .sequence { fill: #238636 } }</style>
`, height)
	parts := []string{"time", "worker", "sequence"}
	for i, part := range parts {
		fmt.Fprintf(&svg, "<rect x=\"%d\" y=\"10\" width=\"12\" height=\"12\" class=\"%s\"/><text x=\"%d\" y=\"21\">%[2]s</text>\n", left+100*i, part, left+100*i+18)
	}
	for i, name := range names {
		layout, err := bits.ParseLayout(name)
		need.Must(t, err)
		y, widths := 36+row*i, []int{int(layout.TimeBits), int(layout.WorkerBits), int(layout.SequenceBits)}
		x := left + bit*(63-widths[0]-widths[1]-widths[2])
		fmt.Fprintf(&svg, "<text x=\"10\" y=\"%d\">%s</text><g class=\"bits\">\n", y+17, name)
		for i, width := range widths {
			fmt.Fprintf(&svg, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"24\" class=\"%s\"/><text x=\"%d\" y=\"%d\">%d bits</text>\n",
				x, y, width*bit-1, parts[i], x+width*bit/2, y+17, width)
			x += width * bit
		}
		svg.WriteString("</g>\n")
	}
	svg.WriteString("</svg>\n")
	drawn(t, "layouts.svg", svg.String())
}

// docs/time.svg shows the default times.
func TestTimes(t *testing.T) {
	const now, row, most = 220, 42, 760
	ring := bits.Fleet().Unit << uid.DefaultBoostPower
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d 236" width="%[1]d" height="236" font-family="sans-serif" font-size="13">
<style>svg { background: #fff } text { fill: #1f2328 } .note { fill: #59636e } .now { stroke: #cf222e } .axis { stroke: #59636e } .age { fill: #8c959f } .ring { fill: #0969da } .borrow { fill: #bf8700 } .lease { fill: #1a7f37 }
@media (prefers-color-scheme: dark) { svg { background: #0d1117 } text { fill: #f0f6fc } .note { fill: #9198a1 } .now { stroke: #f85149 } .axis { stroke: #9198a1 } .age { fill: #6e7681 } .ring { fill: #4493f8 } .borrow { fill: #d29922 } .lease { fill: #3fb950 } }</style>
<path class="axis" d="M20 210H740M732 205L740 210L732 215" fill="none"/>
<path class="now" d="M%d 24V216" stroke-width="2"/>
<text x="%[2]d" y="17" text-anchor="middle">now</text>
<text x="20" y="230" class="note">past</text>
<text x="740" y="230" class="note" text-anchor="end">future (not to scale; light bars go on)</text>
`, most, now)
	for i, span := range []struct {
		class    string
		from, to int // in the picture
		open     bool
		text     string
	}{
		{"age", now - 100, now, false, fmt.Sprintf("MaxAge, %s: older ids in the ring are discarded", words(uid.DefaultMaxAge))},
		{"ring", now, now + 70, false, fmt.Sprintf("the ring, %s: ids made ahead of demand", words(ring))},
		{"borrow", now, now + 300, true, fmt.Sprintf("MaxBorrow, %s: a burst borrows ids from future seconds", words(uid.DefaultMaxBorrow))},
		{"lease", now, now + 300, true, fmt.Sprintf("Window, %s: reserved in the store beyond now and beyond the last id", words(lease.DefaultWindow))},
	} {
		y := 32 + row*i
		fmt.Fprintf(&svg, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"14\" class=\"%s\"/>\n", span.from, y, span.to-span.from, span.class)
		if span.open {
			fmt.Fprintf(&svg, "<rect x=\"%d\" y=\"%d\" width=\"180\" height=\"14\" class=\"%s\" fill-opacity=\"0.4\"/>\n", span.to, y, span.class)
		}
		fmt.Fprintf(&svg, "<text x=\"%d\" y=\"%d\">%s</text>\n", now+10, y+29, span.text)
	}
	svg.WriteString("</svg>\n")
	drawn(t, "time.svg", svg.String())
}

// words writes a whole number of hours, minutes or seconds.
func words(d time.Duration) string {
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		switch n := d / unit.length; {
		case n == 1 && d == unit.length:
			return "1 " + unit.name
		case n > 1 && d%unit.length == 0:
			return fmt.Sprintf("%d %ss", n, unit.name)
		}
	}
	return d.String()
}
