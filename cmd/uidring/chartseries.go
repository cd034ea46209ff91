package main

import (
	"math"

	"github.com/wcharczuk/go-chart/v2"
)

// gridSeries implements chart.Series: a line at each power of ten. The library's
// own lines cannot be given a class.
type gridSeries struct{ low, high int }

func (gridSeries) GetName() string           { return "grid" }
func (gridSeries) GetYAxis() chart.YAxisType { return chart.YAxisPrimary }
func (gridSeries) GetStyle() chart.Style     { return chart.Style{} }
func (gridSeries) Validate() error           { return nil }

// Render implements chart.Series.
func (s gridSeries) Render(r chart.Renderer, box chart.Box, _, ys chart.Range, _ chart.Style) {
	r.ResetStyle()
	r.SetClassName("grid")
	for power := s.low; power <= s.high; power++ {
		y := box.Bottom - ys.Translate(float64(power))
		r.MoveTo(box.Left, y)
		r.LineTo(box.Right, y)
		r.Stroke()
	}
}

// drawnSeries implements chart.Series: a line through the medians, and at each a
// bar from the lowest to the highest.
type drawnSeries struct {
	plotSeries
	shift int // to the side, so that bars do not lie on each other
}

func (s drawnSeries) GetName() string         { return s.class }
func (drawnSeries) GetYAxis() chart.YAxisType { return chart.YAxisPrimary }
func (drawnSeries) GetStyle() chart.Style     { return chart.Style{} }
func (drawnSeries) Validate() error           { return nil }

// Render implements chart.Series.
func (s drawnSeries) Render(r chart.Renderer, box chart.Box, xs, ys chart.Range, _ chart.Style) {
	part := func(name string) {
		r.ResetStyle()
		r.SetClassName(s.class + " " + name)
	}
	at := func(i int, value float64) (x, y int) {
		return box.Left + xs.Translate(float64(i)) + s.shift, box.Bottom - ys.Translate(math.Log10(value))
	}
	part("line")
	draw := r.MoveTo
	for i, p := range s.points {
		if p.positive() {
			draw(at(i, p.Median))
			draw = r.LineTo
		}
	}
	r.Stroke()
	for i, p := range s.points {
		if !p.positive() {
			continue
		}
		x, low := at(i, p.Lowest)
		_, high := at(i, p.Highest)
		if low-high > 6 { // else the dot covers it
			part("bar")
			r.MoveTo(x, low)
			r.LineTo(x, high)
			r.Stroke()
		}
		_, y := at(i, p.Median)
		part("dot")
		r.Circle(3, x, y)
	}
}
