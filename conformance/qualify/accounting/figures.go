package accounting

import (
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Figures of one run, of its measured requests only. Warm-up is in none of them.
type Figures struct {
	Load         string  `json:"load"`
	Requests     int     `json:"requests"`
	WindowS      float64 `json:"window_s"` // first start to last end
	RequestsPerS float64 `json:"requests_per_s"`
	PassagesPerS float64 `json:"passages_per_s"`
	TokensPerS   float64 `json:"tokens_per_s,omitempty"` // absent if the Task does not count tokens
	Client       Spread  `json:"client_ms"`              // end to end, by AIPerf
	Handler      Spread  `json:"handler_ms"`
	IPC          Spread  `json:"ipc_ms"`
	Queue        Spread  `json:"queue_ms"`
	Call         Spread  `json:"public_task_call_wall_ms"`
}

// Spread of a clock in milliseconds.
type Spread struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
}

// NewFigures computes the figures of the answered, measured requests of a run. With none they are all 0.
func NewFigures(load string, requests []Request) Figures {
	f := Figures{Load: load}
	var first, last, passages, tokens int64
	var measured []Request
	for _, r := range requests {
		if r.Load != load || r.Warmup || r.Status != 200 {
			continue
		}
		if len(measured) == 0 || r.StartUS < first {
			first = r.StartUS
		}
		last = max(last, r.EndUS)
		passages, tokens = passages+int64(r.Passages), tokens+r.Tokens
		measured = append(measured, r)
	}
	if f.Requests = len(measured); f.Requests == 0 || last <= first {
		return f
	}
	f.WindowS = float64(last-first) / 1e6
	f.RequestsPerS, f.PassagesPerS, f.TokensPerS = float64(f.Requests)/f.WindowS, float64(passages)/f.WindowS, float64(tokens)/f.WindowS
	f.Client = spread(measured, func(r *Request) int64 { return r.ClientUS })
	f.Handler = spread(measured, func(r *Request) int64 { return r.HandlerUS })
	f.IPC = spread(measured, func(r *Request) int64 { return r.IPCUS })
	f.Queue = spread(measured, func(r *Request) int64 { return r.QueueUS })
	f.Call = spread(measured, func(r *Request) int64 { return r.CallUS })
	return f
}

func spread(requests []Request, clock func(*Request) int64) Spread {
	values := make([]float64, len(requests))
	for i := range requests {
		values[i] = float64(clock(&requests[i])) / 1000
	}
	slices.Sort(values)
	at := func(p float64) float64 { return stat.Quantile(p, stat.Empirical, values, nil) }
	return Spread{Mean: stat.Mean(values, nil), P50: at(0.5), P90: at(0.9), P99: at(0.99), Max: values[len(values)-1]}
}
