package report

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Plot is lines over a common x axis. Points that are not positive are left out of a logarithmic axis.
type Plot struct {
	Title, X, Y string
	LogX, LogY  bool
	Room        float64 // factor by which a logarithmic x axis goes on behind the curves, where the legend then stands; 0: it stands at the left
	Lines       []Line
}

// Line is one curve.
type Line struct {
	Name   string
	Points []Point
}

// Point of a curve.
type Point struct{ X, Y float64 }

// SVG draws the plot.
func (p *Plot) SVG() (string, error) {
	drawing := plot.New()
	drawing.Title.Text, drawing.X.Label.Text, drawing.Y.Label.Text = p.Title, p.X, p.Y
	drawing.Legend.Top, drawing.Legend.Left = true, true
	drawing.Legend.XOffs = vg.Centimeter
	drawing.Add(plotter.NewGrid())
	if p.LogX {
		drawing.X.Scale, drawing.X.Tick.Marker = plot.LogScale{}, plot.TickerFunc(logTicks)
	}
	if p.LogY {
		drawing.Y.Scale, drawing.Y.Tick.Marker = plot.LogScale{}, plot.TickerFunc(logTicks)
	} else {
		drawing.Y.Min = 0
	}
	for i, line := range p.Lines {
		if err := p.add(drawing, i, line); err != nil {
			return "", err
		}
	}
	const width, height = 22 * vg.Centimeter, 11 * vg.Centimeter
	if p.Room > 0 && p.LogX {
		drawing.Legend.XOffs = width * vg.Length(math.Log(drawing.X.Max/drawing.X.Min)/math.Log(drawing.X.Max*p.Room/drawing.X.Min))
		drawing.X.Max *= p.Room
	}
	canvas := vgsvg.New(width, height)
	drawing.Draw(draw.New(canvas))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return "", fmt.Errorf("write plot: %w", err)
	}
	svg := b.Bytes()
	return string(svg[bytes.Index(svg, []byte("<svg")):]), nil // without the XML declaration, to stand inside HTML
}

func (p *Plot) add(drawing *plot.Plot, i int, line Line) error {
	var points plotter.XYs
	for _, point := range line.Points {
		if (!p.LogX || point.X > 0) && (!p.LogY || point.Y > 0) {
			points = append(points, plotter.XY(point))
		}
	}
	if len(points) == 0 {
		return nil
	}
	slices.SortFunc(points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
	curve, marks, err := plotter.NewLinePoints(points)
	if err != nil {
		return fmt.Errorf("line %s: %w", line.Name, err)
	}
	curve.Color, marks.Color, marks.Shape = plotutil.Color(i), plotutil.Color(i), plotutil.Shape(i)
	drawing.Add(curve, marks)
	drawing.Legend.Add(line.Name, curve, marks)
	return nil
}

// logTicks are at 1, 2 and 5 times the powers of ten, each with its number.
func logTicks(least, most float64) []plot.Tick {
	var ticks []plot.Tick
	for power := math.Pow(10, math.Floor(math.Log10(least))); power <= most; power *= 10 {
		for _, digit := range []float64{1, 2, 5} {
			if at := digit * power; at >= least && at <= most {
				ticks = append(ticks, plot.Tick{Value: at, Label: strconv.FormatFloat(at, 'f', -1, 64)})
			}
		}
	}
	return ticks
}
