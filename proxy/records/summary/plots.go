package summary

import (
	"bytes"
	"fmt"
	"html/template"
	"image/color"
	"math"
	"strconv"

	"github.com/HdrHistogram/hdrhistogram-go"
	"gonum.org/v1/plot" // draws SVG that stands inside the page: nothing to fetch, nothing to run
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// picture is one plot of the page.
type picture struct {
	Heading, Text string
	Legend        []entry // above the drawing, where it hides nothing
	SVG           template.HTML
}

// entry names the line of a colour.
type entry struct{ Name, Colour string }

// drawing is a plot while it is being drawn.
type drawing struct {
	*plot.Plot
	legend []entry
}

// colours tell the clocks apart, also for those who see few colours.
var colours = map[Clock]color.NRGBA{
	ClockClient:  color.NRGBA{0, 0, 0, 255},
	ClockHandler: color.NRGBA{0, 114, 178, 255},
	ClockIPC:     color.NRGBA{86, 180, 233, 255},
	ClockQueue:   color.NRGBA{230, 159, 0, 255},
	ClockCall:    color.NRGBA{0, 158, 115, 255},
}

var (
	blue   = colours[ClockHandler]
	orange = color.NRGBA{213, 94, 0, 255}
)

func (s *Summary) pictures() ([]picture, error) {
	draws := []struct {
		heading, text string
		draw          func() (*drawing, error)
	}{
		{"Distribution of each clock", "Good requests: how many took at most so long. The axis of percentiles is stretched towards the tail.", s.distributions},
		{"Latency against passages", "Handler time of good requests, a sample of at most " + strconv.Itoa(maxPoints) + ".", func() (*drawing, error) {
			return s.against("passages", func(p point) int64 { return p.passages })
		}},
		{"Latency against tokens", "The same requests by tokens scored.", func() (*drawing, error) {
			return s.against("tokens", func(p point) int64 { return p.tokens })
		}},
		{"Requests over time", "Good and failed requests by the time they ended.", s.requestsOverTime},
		{"Passages over time", "Passages of good requests by the time they ended.", s.passagesOverTime},
	}
	var out []picture
	for _, d := range draws {
		drawn, err := d.draw()
		if err != nil {
			return nil, fmt.Errorf("draw %s: %w", d.heading, err)
		}
		svg, err := render(drawn.Plot)
		if err != nil {
			return nil, fmt.Errorf("draw %s: %w", d.heading, err)
		}
		out = append(out, picture{d.heading, d.text, drawn.legend, svg})
	}
	return out, nil
}

func newDrawing(x, y string) *drawing {
	plot.DefaultFont = font.Font{Typeface: "Liberation", Variant: "Sans"}
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = x, y
	p.Add(plotter.NewGrid())
	return &drawing{Plot: p}
}

// render returns the drawing as an element to stand in a page.
func render(p *plot.Plot) (template.HTML, error) {
	const width, height = 15 * vg.Centimeter, 9.5 * vg.Centimeter
	canvas := vgsvg.New(width, height)
	p.Draw(draw.Crop(draw.New(canvas), 0, -4*vg.Millimeter, 0, -2*vg.Millimeter)) // room for marks and numbers at the edge
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return "", err
	}
	svg := b.Bytes()
	// It holds only what this file drew: numbers and our own words.
	return template.HTML(svg[bytes.Index(svg, []byte("<svg")):]), nil
}

// merged is the distribution of a clock over the good requests of all models; nil if none had it.
func (s *Summary) merged(clock Clock) *hdrhistogram.Histogram {
	var all *hdrhistogram.Histogram
	for _, g := range s.Sorted() {
		h := g.Times[clock]
		if g.Outcome != ok || h == nil {
			continue
		}
		if all == nil {
			all = hdrhistogram.New(1, longest, 3)
		}
		all.Merge(h)
	}
	return all
}

// tail are the percentiles of the axis; x is stretched so that each step of nines has the same room.
var tail = []struct {
	percentile float64
	label      string
}{{0, "0"}, {50, "50"}, {90, "90"}, {99, "99"}, {99.9, "99.9"}, {99.99, "99.99"}}

func stretch(percentile float64) float64 { return -math.Log10(1 - percentile/100) }

func (s *Summary) distributions() (*drawing, error) {
	p := newDrawing("percentile", "ms")
	var ticks plot.ConstantTicks
	for _, t := range tail {
		ticks = append(ticks, plot.Tick{Value: stretch(t.percentile), Label: t.label})
	}
	p.X.Tick.Marker = ticks
	for _, clock := range Clocks {
		if h := s.merged(clock); h != nil {
			if err := p.addLine(string(clock), colours[clock], curve(h)); err != nil {
				return nil, err
			}
		}
	}
	if len(p.legend) > 0 {
		scale(&p.Y)
	}
	return p, nil
}

// curve ends where less than one request is left. A time of 0 us, which a logarithm has no place for, is drawn as half a microsecond.
func curve(h *hdrhistogram.Histogram) (points plotter.XYs) {
	end := stretch(100 * (1 - 1/float64(max(h.TotalCount(), 2))))
	const steps = 200
	for i := range steps + 1 {
		x := end * float64(i) / steps
		percentile := 100 * (1 - math.Pow(10, -x))
		points = append(points, plotter.XY{X: x, Y: max(float64(h.ValueAtPercentile(percentile)), 0.5) / 1000})
	}
	return points
}

func (d *drawing) addLine(name string, c color.NRGBA, points plotter.XYs) error {
	line, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	line.Color, line.Width = c, vg.Points(1.5)
	d.Add(line)
	d.legend = append(d.legend, entry{name, fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)})
	return nil
}

func (s *Summary) against(what string, x func(point) int64) (*drawing, error) {
	p := newDrawing(what, "handler, ms")
	points := make(plotter.XYs, 0, len(s.points.kept))
	for _, kept := range s.points.kept {
		points = append(points, plotter.XY{X: float64(x(kept)), Y: float64(kept.handlerUS) / 1000})
	}
	if len(points) == 0 {
		return p, nil
	}
	scatter, err := plotter.NewScatter(points)
	if err != nil {
		return nil, err
	}
	scatter.Shape, scatter.Radius, scatter.Color = draw.CircleGlyph{}, vg.Points(1.5), color.NRGBA{0, 114, 178, 120}
	p.Add(scatter)
	scale(&p.X)
	scale(&p.Y)
	return p, nil
}

// scale makes an axis logarithmic where its values are all positive and of several sizes, and else lets it start at 0.
func scale(a *plot.Axis) {
	const sizes = 30
	if a.Min > 0 && a.Max > sizes*a.Min {
		a.Min, a.Max = a.Min/1.1, a.Max*1.1
		a.Scale, a.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
		return
	}
	a.Min, a.Max = 0, a.Max*1.02
}

func (s *Summary) requestsOverTime() (*drawing, error) {
	p := newDrawing("s", "requests/s")
	if err := s.addRate(p, "good", blue, func(at *slot) int64 { return at.good }); err != nil {
		return nil, err
	}
	return p, s.addRate(p, "failed", orange, func(at *slot) int64 { return at.failed })
}

func (s *Summary) passagesOverTime() (*drawing, error) {
	p := newDrawing("s", "passages/s")
	return p, s.addRate(p, "passages", blue, func(at *slot) int64 { return at.passages })
}

// addRate draws a rate in steps. A time without any record is a step of 0; where the time covered is long, several slots make a step.
func (s *Summary) addRate(p *drawing, name string, c color.NRGBA, count func(*slot) int64) error {
	if len(s.rates.slots) == 0 {
		return nil
	}
	first, last := s.rates.bounds()
	wide := (last-first)/(4*maxSlots) + 1
	steps := make([]int64, (last-first)/wide+1)
	for at, found := range s.rates.slots {
		steps[(at-first)/wide] += count(found)
	}
	seconds := s.rates.width.Seconds() * float64(wide)
	var points plotter.XYs
	for i, n := range steps {
		x, rate := float64(i)*seconds, float64(n)/seconds
		points = append(points, plotter.XY{X: x, Y: rate}, plotter.XY{X: x + seconds, Y: rate})
	}
	p.Y.Min = 0
	return p.addLine(name, c, points)
}
