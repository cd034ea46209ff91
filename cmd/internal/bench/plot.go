package bench

import (
	"bytes"
	"fmt"
	"io"
	"math"

	svg "github.com/ajstarks/svgo"
)

const nameWidth, barsWidth, barHeight, rowGap, headHeight = 300, 420, 14, 10, 50

// draw writes a bar for each row and number of goroutines, from 0.1 ns to the median. The
// scale is logarithmic: the rows are orders of magnitude apart.
func (o *options) draw(to io.Writer, rows []*row) error {
	var text bytes.Buffer
	s := svg.New(&text)
	rowHeight := barHeight*len(o.goroutines) + rowGap
	s.Start(nameWidth+barsWidth+90, headHeight+rowHeight*len(rows)+rowGap, `font-family="sans-serif" font-size="12" style="background:white"`)
	s.Text(rowGap, 20, "Nanoseconds an id, median; by goroutines:", "font-weight:bold")
	for at, n := range o.goroutines {
		s.Text(nameWidth+at*60, 20, fmt.Sprintf("■ %d", n), o.shade(at))
	}
	most := 1.0
	for _, r := range rows {
		for at := range o.goroutines {
			most = max(most, r.median(at))
		}
	}
	width := func(ns float64) int {
		return max(2, int(barsWidth*math.Log10(ns/0.1)/math.Log10(most/0.1)))
	}
	for ns := 1.0; ns <= most; ns *= 10 {
		x := nameWidth + width(ns)
		s.Line(x, headHeight-8, x, headHeight+rowHeight*len(rows), "stroke:#ddd")
		s.Text(x, headHeight-12, fmt.Sprint(ns), "text-anchor:middle;fill:#777")
	}
	for i, r := range rows {
		y := headHeight + i*rowHeight
		s.Text(rowGap, y+barHeight, r.Name)
		for at := range o.goroutines {
			s.Rect(nameWidth, y+at*barHeight, width(r.median(at)), barHeight-2, o.shade(at))
			s.Text(nameWidth+width(r.median(at))+5, y+at*barHeight+barHeight-3, fmt.Sprintf("%.3g", r.median(at)))
		}
	}
	s.End()
	_, err := text.WriteTo(to)
	return err
}

// shade is darker the more goroutines there are.
func (o *options) shade(at int) string {
	return fmt.Sprintf("fill:#08519c;fill-opacity:%.2f", float64(at+1)/float64(len(o.goroutines)))
}
