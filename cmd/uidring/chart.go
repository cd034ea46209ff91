package main

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"

	"github.com/wcharczuk/go-chart/v2"
)

const (
	chartWidth  = 400
	chartHeight = 240
	seriesGap   = 6
)

// plot is a chart of a figure against goroutines. Its axis of figures is
// logarithmic: the generators are orders of magnitude apart.
type plot struct {
	id     string
	title  string
	desc   string // what it shows, for those who do not see it
	label  func(power int) string
	series []plotSeries
}

// plotSeries is a subject's points, one for each number of goroutines.
type plotSeries struct {
	class  string // in the page's style sheet
	points []spread
}

// svg draws the plot, without a colour: the page has them by class, light or dark.
func (p plot) svg(goroutines []int) (template.HTML, error) {
	low, high := p.powers()
	if low > high {
		return "", nil // there is nothing to see
	}
	unseen := chart.Style{ClassName: "none"}
	axis := chart.Style{ClassName: "axis", FontSize: 9.8, StrokeWidth: 1}
	c := chart.Chart{
		Width: chartWidth, Height: chartHeight,
		Background:     chart.Style{ClassName: "none", Padding: chart.Box{Top: 10, Left: 8, Right: 10, Bottom: 6}},
		Canvas:         unseen,
		XAxis:          chart.XAxis{Style: axis, Ticks: stepTicks(goroutines), GridMajorStyle: chart.Hidden(), GridMinorStyle: chart.Hidden()},
		YAxis:          chart.YAxis{Style: axis, AxisType: chart.YAxisSecondary, GridMajorStyle: chart.Hidden(), GridMinorStyle: chart.Hidden()},
		YAxisSecondary: chart.YAxis{Style: chart.Hidden()},
		Series:         []chart.Series{gridSeries{low, high}},
	}
	every := (high-low)/6 + 1 // so that labels have room
	for power := low; power <= high; power++ {
		text := ""
		if (power-low)%every == 0 {
			text = p.label(power)
		}
		c.YAxis.Ticks = append(c.YAxis.Ticks, chart.Tick{Value: float64(power), Label: text})
	}
	for i, s := range p.series {
		c.Series = append(c.Series, drawnSeries{s, seriesGap * (2*i - len(p.series) + 1) / 2})
	}
	var b bytes.Buffer
	if err := c.Render(chart.SVG, &b); err != nil {
		return "", fmt.Errorf("chart %s: %w", p.id, err)
	}
	// The library draws numbers and nothing else, since it does not escape text.
	_, picture, ok := strings.Cut(b.String(), ">")
	if !ok {
		return "", fmt.Errorf("chart %s: no picture", p.id)
	}
	return template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %d %d" role="img" aria-labelledby="%s-title %[3]s-desc"><title id="%[3]s-title">%s</title><desc id="%[3]s-desc">%s</desc>`,
		chartWidth, chartHeight, p.id, html.EscapeString(p.title), html.EscapeString(p.desc)) + picture), nil
}

// powers returns the powers of ten between which all points lie.
func (p plot) powers() (low, high int) {
	low, high = math.MaxInt, math.MinInt
	for _, s := range p.series {
		for _, point := range s.points {
			if !point.positive() {
				continue
			}
			low = min(low, int(math.Floor(math.Log10(point.Lowest))))
			high = max(high, int(math.Ceil(math.Log10(point.Highest))))
		}
	}
	if low == high { // a power of ten, all of it
		high++
	}
	return low, high
}

// stepTicks has room at both ends.
func stepTicks(goroutines []int) []chart.Tick {
	const room = 0.4
	ticks := []chart.Tick{{Value: -room}}
	for i, n := range goroutines {
		ticks = append(ticks, chart.Tick{Value: float64(i), Label: strconv.Itoa(n)})
	}
	return append(ticks, chart.Tick{Value: float64(len(goroutines)-1) + room})
}
