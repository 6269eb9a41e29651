// Package report turns what was measured into JSON, tables, Markdown and one self-contained HTML page.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"trtmc-ranking-proxy/bench/load"
	"trtmc-ranking-proxy/bench/workloads"
)

// Closed and Open label the two kinds of load.
const (
	Closed = "closed loop"
	Open   = "open loop"
)

// Result is one measurement of one server.
type Result struct {
	Server      string    `json:"server"`
	Workload    string    `json:"workload"`
	Digest      string    `json:"workload_digest"`
	Format      string    `json:"format"`
	Loop        string    `json:"loop"`                    // Closed or Open
	Arrivals    string    `json:"arrivals,omitempty"`      // of an open loop: constant, poisson or replay
	PlannedRate float64   `json:"planned_per_s,omitempty"` // of constant and poisson arrivals, requests a second
	Rate        float64   `json:"offered_per_s"`           // requests that started in the window, a second
	Concurrency int       `json:"concurrency,omitempty"`   // of a closed loop
	Start       time.Time `json:"start"`
	WarmUpS     float64   `json:"warm_up_s"` // not counted
	WindowS     float64   `json:"window_s"`

	Counts   map[load.Kind]int `json:"counts"`
	FirstBad string            `json:"first_bad,omitempty"`

	RequestsPerS float64 `json:"requests_per_s"`
	PassagesPerS float64 `json:"passages_per_s"`
	TokensPerS   float64 `json:"tokens_per_s,omitempty"`
	ObjectiveMS  float64 `json:"objective_ms,omitempty"`
	GoodputPerS  float64 `json:"goodput_per_s,omitempty"`

	Latency  Percentiles            `json:"latency_ms"` // of the requests answered well, from the intended start
	Rejected *Percentiles           `json:"rejected_latency_ms,omitempty"`
	Classes  map[string]Percentiles `json:"class_latency_ms,omitempty"`
	Stages   map[string]Percentiles `json:"stage_ms,omitempty"` // from Server-Timing
	SendLag  Percentiles            `json:"send_lag_ms"`        // intended start to sending

	Generator Generator `json:"generator"`
	RSSMB     float64   `json:"server_rss_mb,omitempty"` // of the server's processes, after the window
}

// Generator is what producing the load cost on this machine.
type Generator struct {
	Cores        float64 `json:"cores"` // processor time a second
	USPerRequest float64 `json:"us_per_request"`
}

// Percentiles of a latency in milliseconds.
type Percentiles struct {
	N    int64   `json:"n"`
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p99_9"`
	Max  float64 `json:"max"`
}

// NewResult is the measurement as it is reported. The caller adds the labels of server and load.
func NewResult(w *workloads.Workload, p load.Plan, o *load.Outcome) Result {
	seconds := o.Window.Seconds()
	r := Result{
		Workload: w.Name, Digest: w.Digest, Loop: Closed, Concurrency: p.Concurrency,
		Start: o.Start.UTC(), WarmUpS: p.WarmUp.Seconds(), WindowS: seconds,
		Counts: o.Counts, FirstBad: o.FirstBad,
		RequestsPerS: float64(o.CompletedOK) / seconds,
		PassagesPerS: float64(o.CompletedPassages) / seconds,
		TokensPerS:   float64(o.CompletedTokens) / seconds,
		ObjectiveMS:  ms(p.Objective), GoodputPerS: float64(o.Good) / seconds,
		Latency: NewPercentiles(o.Latency), SendLag: NewPercentiles(o.SendLag),
		Classes: eachPercentiles(o.Classes), Stages: eachPercentiles(o.Stages),
	}
	r.Rate = float64(r.Started()) / seconds
	if p.Arrivals != nil {
		r.Loop, r.Concurrency = Open, 0
	}
	if o.Rejected.TotalCount() > 0 {
		rejected := NewPercentiles(o.Rejected)
		r.Rejected = &rejected
	}
	r.Generator.Cores = o.CPU.Seconds() / seconds
	if n := r.Started(); n > 0 {
		r.Generator.USPerRequest = float64(o.CPU.Microseconds()) / float64(n)
	}
	return r
}

// Started is how many requests the result accounts for.
func (r *Result) Started() int {
	n := 0
	for _, count := range r.Counts {
		n += count
	}
	return n
}

// Errors is how many requests got neither an answer nor a rejection.
func (r *Result) Errors() int { return r.Started() - r.Counts[load.OK] - r.Counts[load.Rejected] }

// Load is the label of the load, such as "closed loop, 16 in flight" or "open loop, poisson 25/s".
func (r *Result) Load() string {
	switch {
	case r.Loop == Closed:
		return fmt.Sprintf("%s, %d in flight", r.Loop, r.Concurrency)
	case r.PlannedRate > 0:
		return fmt.Sprintf("%s, %s %.4g/s", r.Loop, r.Arrivals, r.PlannedRate)
	default:
		return fmt.Sprintf("%s, %s", r.Loop, r.Arrivals)
	}
}

// NewPercentiles reads a histogram of microseconds.
func NewPercentiles(h *hdrhistogram.Histogram) Percentiles {
	at := func(percent float64) float64 { return float64(h.ValueAtQuantile(percent)) / 1000 }
	return Percentiles{
		N: h.TotalCount(), Mean: h.Mean() / 1000,
		P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), Max: float64(h.Max()) / 1000,
	}
}

func eachPercentiles(all map[string]*hdrhistogram.Histogram) map[string]Percentiles {
	if len(all) == 0 {
		return nil
	}
	p := make(map[string]Percentiles, len(all))
	for name, h := range all {
		p[name] = NewPercentiles(h)
	}
	return p
}

// Run is the JSON file of a benchmark: the results with what they were made on and with.
type Run struct {
	Machine Machine  `json:"machine"`
	Command string   `json:"command"`
	Results []Result `json:"results"`
}

// Write writes the run as indented JSON.
func (r *Run) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	return nil
}

// ReadRun reads what Write wrote. A field it does not know, a label of load that does not exist or a count that is negative are errors.
func ReadRun(r io.Reader) (*Run, error) {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	var run Run
	if err := d.Decode(&run); err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	for i := range run.Results {
		result := &run.Results[i]
		if result.Loop != Closed && result.Loop != Open {
			return nil, fmt.Errorf("result %d: load %q is neither %q nor %q", i, result.Loop, Closed, Open)
		}
		for kind, n := range result.Counts {
			if n < 0 {
				return nil, fmt.Errorf("result %d: %d requests are %s", i, n, kind)
			}
		}
	}
	return &run, nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
