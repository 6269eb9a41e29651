// Package growth measures how time grows with passages, tokens, requests in flight and connections, and fits the exponent of the growth.
package growth

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"trtmc-ranking-proxy/bench/load"
	"trtmc-ranking-proxy/bench/measure"
	"trtmc-ranking-proxy/bench/report"
	"trtmc-ranking-proxy/bench/workloads"
	"trtmc-ranking-proxy/bench/workloads/generate"
)

// Curve is one sweep: a measurement at every step.
type Curve struct {
	Server string
	Of     string // what grows
	What   string // what is plotted against it
	Points []report.Point

	Results []report.Result // of every step
}

// Exponent is the slope of the points from x = from on in log-log scale: 1 is proportional, 0 is flat. NaN with fewer than two points.
func (c *Curve) Exponent(from float64) float64 {
	var xs, ys []float64
	for _, p := range c.Points {
		if p.X >= from && p.X > 0 && p.Y > 0 {
			xs, ys = append(xs, math.Log(p.X)), append(ys, math.Log(p.Y))
		}
	}
	if len(xs) < 2 {
		return math.NaN()
	}
	_, slope := stat.LinearRegression(xs, ys, nil, false)
	return slope
}

// AddTo adds the row of a table: server, what grows, first and last step, their times, exponents of all steps and of the upper half.
func (c *Curve) AddTo(t *report.Table) {
	if len(c.Points) == 0 {
		return
	}
	first, middle, last := c.Points[0], c.Points[len(c.Points)/2], c.Points[len(c.Points)-1]
	t.Add(c.Server, c.Of, first.X, last.X, first.Y, last.Y, c.Exponent(0), c.Exponent(middle.X))
}

// Sweep measures a server at every step of one dimension.
type Sweep func(context.Context, measure.Server, measure.Settings) (*Curve, error)

// Sweeps in the order of a report.
var Sweeps = []Sweep{Passages, Tokens, Concurrency, Connections}

// Passages grows the request from 1 to 512 passages of 40 words; one request at a time.
func Passages(ctx context.Context, server measure.Server, s measure.Settings) (*Curve, error) {
	c := &Curve{Server: server.Name, Of: "passages", What: "p50 ms"}
	for _, n := range []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512} {
		r, err := measure.One(ctx, server, uniform(n, 40), measure.Closed(1), s)
		if err != nil {
			return nil, err
		}
		c.add(float64(n), &r, r.Latency.P50)
	}
	return c, nil
}

// Tokens grows 16 passages from a few to nearly 512 tokens a pair; one request at a time. Its x is what the server reports as usage or,
// for a server that counts none, the words.
func Tokens(ctx context.Context, server measure.Server, s measure.Settings) (*Curve, error) {
	const passages = 16
	c := &Curve{Server: server.Name, Of: "tokens a pair", What: "p50 ms"}
	for _, words := range []int{1, 5, 15, 35, 80, 180, 360} {
		r, err := measure.One(ctx, server, uniform(passages, words), measure.Closed(1), s)
		if err != nil {
			return nil, err
		}
		x := float64(words)
		if r.PassagesPerS > 0 && r.TokensPerS > 0 {
			x = r.TokensPerS / r.PassagesPerS
		}
		c.add(x, &r, r.Latency.P50)
	}
	return c, nil
}

// Concurrency grows the number of W3 requests in flight from 1 to 256.
func Concurrency(ctx context.Context, server measure.Server, s measure.Settings) (*Curve, error) {
	w, err := workloads.Load("W3")
	if err != nil {
		return nil, err
	}
	c := &Curve{Server: server.Name, Of: "requests in flight", What: "p50 ms"}
	for _, n := range []int{1, 2, 4, 8, 16, 32, 64, 128, 256} {
		r, err := measure.One(ctx, server, w, measure.Closed(n), s)
		if err != nil {
			return nil, err
		}
		c.add(float64(n), &r, r.Latency.P50)
	}
	return c, nil
}

// Connections grows the number of open connections from 1 to 5,000; each has served a request, and one is in use at a time.
func Connections(ctx context.Context, server measure.Server, s measure.Settings) (*Curve, error) {
	w, err := workloads.Load("W3")
	if err != nil {
		return nil, err
	}
	requests, err := server.Endpoint.Prepare(w)
	if err != nil {
		return nil, err
	}
	c := &Curve{Server: server.Name, Of: "connections", What: "p50 ms"}
	for _, n := range []int{1, 10, 100, 1000, 5000} {
		release, err := load.Hold(server.Endpoint.Target, requests[0], n-1, s.Timeout)
		if err != nil {
			return nil, fmt.Errorf("hold %d connections: %w", n-1, err)
		}
		r, err := measure.One(ctx, server, w, measure.Closed(1), s)
		release()
		if err != nil {
			return nil, err
		}
		c.add(float64(n), &r, r.Latency.P50)
	}
	return c, nil
}

// add leaves out a step at which nothing was answered well.
func (c *Curve) add(x float64, r *report.Result, y float64) {
	c.Results = append(c.Results, *r)
	if r.Counts[load.OK] > 0 {
		c.Points = append(c.Points, report.Point{X: x, Y: y})
	}
}

// uniform is a few requests of equal shape.
func uniform(passages, words int) *workloads.Workload {
	writer := generate.NewWriter(uint64(passages)<<32 | uint64(words))
	w := &workloads.Workload{Name: fmt.Sprintf("%dx%d words", passages, words)}
	for range 4 {
		w.Requests = append(w.Requests, writer.Request(passages, func() int { return words }))
	}
	return w
}
