package page

import (
	"slices"
	"strings"

	"trtmc-ranking-proxy/bench/report"
	"trtmc-ranking-proxy/conformance/qualify/accounting"
	"trtmc-ranking-proxy/conformance/qualify/evidence"
)

// overConcurrency makes a line of a figure of the closed loops.
func overConcurrency(r *evidence.Result, name string, value func(*accounting.Figures) float64) report.Line {
	line := report.Line{Name: name}
	for i := range r.Accounts {
		if n := r.Accounts[i].Load.Concurrency; n > 0 {
			line.Points = append(line.Points, report.Point{X: float64(n), Y: value(&r.Figures[i])})
		}
	}
	return line
}

func latencies(r *evidence.Result) *report.Plot {
	return &report.Plot{Title: "Latency against requests in flight", X: "requests in flight", Y: "ms", LogX: true, LogY: true, Lines: []report.Line{
		overConcurrency(r, "client p99", func(f *accounting.Figures) float64 { return f.Client.P99 }),
		overConcurrency(r, "client p50", func(f *accounting.Figures) float64 { return f.Client.P50 }),
		overConcurrency(r, "handler p50", func(f *accounting.Figures) float64 { return f.Handler.P50 }),
		overConcurrency(r, "Task call p50", func(f *accounting.Figures) float64 { return f.Call.P50 }),
	}}
}

func passages(r *evidence.Result) *report.Plot {
	return &report.Plot{Title: "Passages a second against requests in flight", X: "requests in flight", Y: "passages/s", LogX: true, Lines: []report.Line{
		overConcurrency(r, "passages/s", func(f *accounting.Figures) float64 { return f.PassagesPerS }),
	}}
}

// distribution draws the client and the Task call at the least load, the most, and the constant rate.
func distribution(r *evidence.Result, requests []accounting.Request) *report.Plot {
	p := &report.Plot{Title: "Share of requests within a latency", X: "ms", Y: "share", LogX: true, Room: 8}
	chosen := slices.Compact([]int{0, max(0, len(r.Accounts)-2), len(r.Accounts) - 1})
	for _, i := range chosen {
		name := r.Accounts[i].Load.Name()
		label := strings.NewReplacer("closed loop, ", "", "constant rate ", "").Replace(name)
		p.Lines = append(p.Lines,
			cumulative("client, "+label, name, requests, func(q *accounting.Request) int64 { return q.ClientUS }),
			cumulative("Task call, "+label, name, requests, func(q *accounting.Request) int64 { return q.CallUS }))
	}
	return p
}

// cumulative has at most 50 points.
func cumulative(label, load string, requests []accounting.Request, clock func(*accounting.Request) int64) report.Line {
	var values []float64
	for i := range requests {
		if q := &requests[i]; q.Load == load && !q.Warmup {
			values = append(values, float64(clock(q))/1000)
		}
	}
	slices.Sort(values)
	line := report.Line{Name: label}
	step := max(1, len(values)/50)
	for i := step - 1; i < len(values); i += step {
		line.Points = append(line.Points, report.Point{X: values[i], Y: float64(i+1) / float64(len(values))})
	}
	return line
}
