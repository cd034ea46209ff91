package bench

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"math"
)

const nameWidth, barsWidth, barHeight, rowGap, headHeight = 300, 420, 14, 10, 50

// draw writes an SVG with a bar for each row and number of goroutines, from 0.1 ns to the
// median. The scale is logarithmic: the rows are orders of magnitude apart.
func (o *options) draw(to io.Writer, rows []*row) error {
	var b bytes.Buffer
	element := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	text := func(x, y int, style, text string) {
		element(`<text x="%d" y="%d" style="%s">%s</text>`, x, y, style, html.EscapeString(text))
	}
	rowHeight := barHeight*len(o.goroutines) + rowGap
	element(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12" style="background:white">`,
		nameWidth+barsWidth+90, headHeight+rowHeight*len(rows)+rowGap)
	text(rowGap, 20, "font-weight:bold", "Nanoseconds an id, median; by goroutines:")
	most := 1.0
	for at, n := range o.goroutines {
		text(nameWidth+at*60, 20, o.shade(at), fmt.Sprintf("■ %d", n))
		for _, r := range rows {
			most = max(most, r.median(at))
		}
	}
	width := func(ns float64) int {
		return max(2, int(barsWidth*math.Log10(ns/0.1)/math.Log10(most/0.1)))
	}
	for ns := 1.0; ns <= most; ns *= 10 {
		x := nameWidth + width(ns)
		element(`<path d="M%d %dV%d" stroke="#ddd"/>`, x, headHeight-8, headHeight+rowHeight*len(rows))
		text(x, headHeight-12, "text-anchor:middle;fill:#777", fmt.Sprint(ns))
	}
	for i, r := range rows {
		y := headHeight + i*rowHeight
		text(rowGap, y+barHeight, "", r.Name)
		for at := range o.goroutines {
			bar, top := width(r.median(at)), y+at*barHeight
			element(`<rect x="%d" y="%d" width="%d" height="%d" style="%s"/>`, nameWidth, top, bar, barHeight-2, o.shade(at))
			text(nameWidth+bar+5, top+barHeight-3, "", fmt.Sprintf("%.3g", r.median(at)))
		}
	}
	element("</svg>")
	_, err := b.WriteTo(to)
	return err
}

func (o *options) shade(at int) string {
	return fmt.Sprintf("fill:#08519c;fill-opacity:%.2f", float64(at+1)/float64(len(o.goroutines)))
}
