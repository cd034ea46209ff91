package readme

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
)

var update = flag.Bool("update", false, "write docs/layouts.svg")

// TestLayouts: docs/layouts.svg shows the presets as they are. This command writes it:
//
//	go test ./internal/test/readme -run TestLayouts -update
func TestLayouts(t *testing.T) {
	const bit, left, row = 10, 100, 34
	names := []string{"fleet", "default", "long-lived", "js-safe", "snowflake"}
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
	if *update {
		need.Must(t, os.WriteFile(filepath.Join(top, "docs", "layouts.svg"), []byte(svg.String()), 0o644))
	}
	if read(t, "docs/layouts.svg") != svg.String() {
		t.Error("docs/layouts.svg is out of date: run this test with -update")
	}
}
