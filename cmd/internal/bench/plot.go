package bench

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"regexp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Chart is the line for a chart, if the page has charts.
func (d *page) Chart(unit string) string {
	if !d.charts {
		return ""
	}
	return "\n![" + unit + "]\n"
}

// draw makes the chart of a unit: a line for each name through the medians, with a bar from
// the least to the greatest sample, against the number of goroutines. Its axis is
// logarithmic: the generators are orders of magnitude apart. There is no chart if
// nothing is above 0.
func (d *page) draw(unit, id string) (picture string, err error) {
	p := plot.New()
	p.BackgroundColor = nil
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = nil, color.RGBA{0xFE, 0, 0xF, 0xFF}
	p.Add(grid)
	p.Y.Scale = plot.LogScale{}
	p.Y.Tick.Marker = plot.LogTicks{Prec: -1}
	p.X.Min, p.X.Max = -0.3, float64(len(d.Steps))-0.7
	var steps []string
	for _, n := range d.Steps {
		steps = append(steps, fmt.Sprint(n.Goroutines))
	}
	p.NominalX(steps...)
	for i, name := range d.names {
		var points bars
		for at, n := range d.Steps {
			if v := d.Of(name, n, unit); v.Median() > 0 && slices.Min(v) > 0 {
				points = append(points, point{float64(at), v})
			}
		}
		if len(points) == 0 {
			continue
		}
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return "", fmt.Errorf("chart %s: %w", unit, err)
		}
		spread, err := plotter.NewYErrorBars(points)
		if err != nil {
			return "", fmt.Errorf("chart %s: %w", unit, err)
		}
		tone := color.RGBA{0xFE, 0, byte(i % tones), 0xFF} // that the page replaces
		line.Width, line.Dashes = 1.5, dashes[i%len(dashes)]
		line.Color, dots.Color, spread.Color = tone, tone, tone
		dots.Shape, dots.Radius = draw.CircleGlyph{}, 2.5
		p.Add(line, spread, dots)
	}
	if math.IsInf(p.Y.Min, 0) {
		return "", nil
	}
	p.Y.Min, p.Y.Max = math.Pow10(int(math.Floor(math.Log10(p.Y.Min)))), math.Pow10(int(math.Ceil(math.Log10(p.Y.Max*1.01))))
	canvas := vgsvg.New(400, 240)
	p.Draw(draw.Crop(draw.New(canvas), 4, -8, 4, -8))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return "", fmt.Errorf("chart %s: %w", unit, err)
	}
	return dress(b.Bytes(), id, unit), nil
}

// dress makes the library's file a part of the page: without its head, with a title
// for those who do not see it, and with the page's colours, light or dark.
func dress(svg []byte, id, title string) string {
	_, picture, _ := bytes.Cut(svg, []byte("<g "))
	picture = tone.ReplaceAll(picture, []byte("var(--tone-$1)"))
	picture = bytes.ReplaceAll(picture, []byte("#000000"), []byte("var(--soft)"))
	return fmt.Sprintf(`<svg viewBox="0 0 400 240" role="img" aria-labelledby="%s"><title id="%[1]s">%s against goroutines; the table has the figures</title><g %s`,
		id, title, picture)
}

var tone = regexp.MustCompile(`#FE000([0-9A-F])`)

// tones is how many the page has for names.
const tones = 11

var dashes = [][]vg.Length{{2, 4}, {1, 3}, {6, 2}, nil}

// bars are points, with the samples that each stands for.
type bars []point

type point struct {
	x       float64
	samples Series
}

// Len implements plotter.XYer.
func (b bars) Len() int { return len(b) }

// XY implements plotter.XYer.
func (b bars) XY(i int) (x, y float64) { return b[i].x, b[i].samples.Median() }

// YError implements plotter.YErrorer.
func (b bars) YError(i int) (below, above float64) {
	s := b[i].samples
	return s.Median() - slices.Min(s), slices.Max(s) - s.Median()
}
