// Package measure runs one workload against one server and gives the result with all its labels.
package measure

import (
	"context"
	"fmt"
	"time"

	"trtmc-ranking-proxy/bench/load"
	"trtmc-ranking-proxy/bench/report"
	"trtmc-ranking-proxy/bench/workloads"
)

// Server is what is measured.
type Server struct {
	Name     string
	Endpoint load.Endpoint
	PIDs     []int // its processes, for their memory; may be empty
}

// Load says how requests come.
type Load struct {
	Concurrency int     // closed loop when there are no arrivals; else the most in flight
	Arrivals    string  // "", constant, poisson or replay
	Rate        float64 // requests a second of constant and poisson
	Speed       float64 // of a replay; 1 is as recorded
}

// Closed is a closed loop.
func Closed(concurrency int) Load { return Load{Concurrency: concurrency} }

// OpenPoisson is an open loop with Poisson arrivals.
func OpenPoisson(rate float64) Load {
	return Load{Arrivals: "poisson", Rate: rate, Concurrency: mostInFlight}
}

// mostInFlight bounds the connections of an open loop; requests beyond it wait, and their latency counts the waiting.
const mostInFlight = 1024

// seed makes Poisson arrivals the same for every server.
const seed = 9

// Settings are the same for all measurements of a benchmark.
type Settings struct {
	WarmUp, Window, Timeout, Objective time.Duration
	Stages                             bool
	Progress                           func(load.Progress)
}

// One measures.
func One(ctx context.Context, server Server, w *workloads.Workload, l Load, s Settings) (report.Result, error) {
	requests, err := server.Endpoint.Prepare(w)
	if err != nil {
		return report.Result{}, err
	}
	arrivals, err := l.arrivals(requests)
	if err != nil {
		return report.Result{}, err
	}
	plan := load.Plan{
		Target: server.Endpoint.Target, Requests: requests, Concurrency: l.Concurrency, Arrivals: arrivals,
		WarmUp: s.WarmUp, Window: s.Window, Timeout: s.Timeout, Objective: s.Objective, Stages: s.Stages, Progress: s.Progress,
	}
	outcome, err := load.Run(ctx, plan)
	if err != nil {
		return report.Result{}, fmt.Errorf("load on %s: %w", server.Name, err)
	}
	result := report.NewResult(w, plan, outcome)
	result.Server, result.Format = server.Name, server.Endpoint.Dialect.Name
	result.Arrivals, result.PlannedRate = l.Arrivals, l.Rate
	result.RSSMB = RSSMB(server.PIDs...)
	return result, nil
}

func (l Load) arrivals(requests []load.Request) (load.Arrivals, error) {
	switch {
	case l.Arrivals == "":
		return nil, nil
	case l.Arrivals == "replay":
		return load.NewReplay(requests, l.Speed)
	case l.Rate <= 0:
		return nil, fmt.Errorf("%s arrivals need a positive rate", l.Arrivals)
	case l.Arrivals == "constant":
		return load.Constant{Rate: l.Rate}, nil
	case l.Arrivals == "poisson":
		return load.NewPoisson(l.Rate, seed), nil
	default:
		return nil, fmt.Errorf("unknown arrivals %q, known are constant, poisson and replay", l.Arrivals)
	}
}
