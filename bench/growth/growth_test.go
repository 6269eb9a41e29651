package growth

import (
	"math"
	"testing"

	"trtmc-ranking-proxy/bench/report"
)

func TestExponentOfKnownCurves(t *testing.T) {
	f := func(name string, y func(x float64) float64, from, want float64) {
		t.Helper()
		var c Curve
		for x := 1.0; x <= 512; x *= 2 {
			c.Points = append(c.Points, report.Point{X: x, Y: y(x)})
		}
		if got := c.Exponent(from); math.Abs(got-want) > 0.01 {
			t.Errorf("%s: exponent %.3f, want %.3f", name, got, want)
		}
	}
	f("flat", func(float64) float64 { return 7 }, 0, 0)
	f("proportional", func(x float64) float64 { return 3 * x }, 0, 1)
	f("quadratic", func(x float64) float64 { return x * x / 9 }, 0, 2)
	f("proportional above a fixed cost, upper part", func(x float64) float64 { return 0.001 + x }, 16, 1)
}

func TestExponentNeedsTwoPoints(t *testing.T) {
	f := func(points ...report.Point) {
		t.Helper()
		if got := (&Curve{Points: points}).Exponent(0); !math.IsNaN(got) {
			t.Errorf("%v: exponent %v", points, got)
		}
	}
	f()
	f(report.Point{X: 1, Y: 1})
	f(report.Point{X: 0, Y: 1}, report.Point{X: 2, Y: 1})
}

func TestUniformHasItsShape(t *testing.T) {
	w := uniform(512, 1)
	if len(w.Requests) != 4 || len(w.Requests[0].Passages) != 512 {
		t.Fatalf("%d requests of %d passages", len(w.Requests), len(w.Requests[0].Passages))
	}
}
