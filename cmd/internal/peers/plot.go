package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// chart is a chart of bars: for each row one of each series. The scale is logarithmic, from
// 0.1 on, because rows are orders of magnitude apart.
type chart struct {
	Title  string
	Series []string
	Rows   []rowOfBars
}

// rowOfBars are the values of a row, in the order of the series.
type rowOfBars struct {
	Name   string
	Values []float64
}

const nameWidth, barsWidth, barHeight, rowGap, headHeight = 300, 420, 14, 10, 50

// style follows the reader's preference for light or dark.
const style = `<style>svg { background: #fff } text { fill: #1f2328 } .axis { fill: #59636e; text-anchor: middle } path { stroke: #d1d9e0 } .bar { fill: #0969da }
@media (prefers-color-scheme: dark) { svg { background: #0d1117 } text { fill: #f0f6fc } .axis { fill: #9198a1 } path { stroke: #3d444d } .bar { fill: #4493f8 } }</style>`

// svg draws the chart.
func (c *chart) svg() string {
	var b strings.Builder
	element := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	text := func(x, y int, attributes, text string) {
		element(`<text x="%d" y="%d" %s>%s</text>`, x, y, attributes, html.EscapeString(text))
	}
	rowHeight := barHeight*len(c.Series) + rowGap
	element(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`,
		nameWidth+barsWidth+90, headHeight+rowHeight*len(c.Rows)+rowGap)
	element(style)
	text(rowGap, 20, `font-weight="bold"`, c.Title)
	for at, name := range c.Series {
		x := nameWidth + at*110
		element(`<rect x="%d" y="11" width="10" height="10" class="bar" fill-opacity="%s"/>`, x, c.shade(at))
		text(x+15, 20, `class="series"`, name)
	}
	most := 1.0
	for _, r := range c.Rows {
		for _, value := range r.Values {
			most = max(most, value)
		}
	}
	width := func(value float64) int {
		return max(2, int(barsWidth*math.Log10(value/0.1)/math.Log10(most/0.1)))
	}
	for value := 1.0; value <= most; value *= 10 {
		x := nameWidth + width(value)
		element(`<path d="M%d %dV%d"/>`, x, headHeight-8, headHeight+rowHeight*len(c.Rows))
		text(x, headHeight-12, `class="axis"`, fmt.Sprint(value))
	}
	for i, r := range c.Rows {
		y := headHeight + i*rowHeight
		text(rowGap, y+barHeight, "", r.Name)
		for at, value := range r.Values {
			bar, top := width(value), y+at*barHeight
			element(`<rect x="%d" y="%d" width="%d" height="%d" class="bar" fill-opacity="%s"/>`, nameWidth, top, bar, barHeight-2, c.shade(at))
			text(nameWidth+bar+5, top+barHeight-3, "", fmt.Sprintf("%.3g", value))
		}
	}
	element("</svg>")
	return b.String()
}

func (c *chart) shade(at int) string {
	return fmt.Sprintf("%.2f", float64(at+1)/float64(len(c.Series)))
}
