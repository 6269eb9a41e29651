package report

import (
	"slices"

	"trtmc-ranking-proxy/bench/load"
)

// Median is the median over rounds of one server in one cell.
type Median struct {
	Server, Workload, Load      string
	RequestsPerS, PassagesPerS  float64
	P50, P99                    float64
	RSSMB                       float64 // the largest
	Rounds, Rejected, ErrorsAll int
}

// Medians groups results by workload, load and server, in the order of their first appearance.
func Medians(results []Result) []Median {
	type key struct{ workload, load, server string }
	groups := map[key][]*Result{}
	var order []key
	for i := range results {
		r := &results[i]
		k := key{r.Workload, r.Load(), r.Server}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], r)
	}
	medians := make([]Median, len(order))
	for i, k := range order {
		medians[i] = median(groups[k])
		medians[i].Workload, medians[i].Load, medians[i].Server = k.workload, k.load, k.server
	}
	return medians
}

func median(group []*Result) Median {
	of := func(value func(*Result) float64) float64 {
		values := make([]float64, len(group))
		for i, r := range group {
			values[i] = value(r)
		}
		slices.Sort(values)
		middle := len(values) / 2
		if len(values)%2 == 1 {
			return values[middle]
		}
		return (values[middle-1] + values[middle]) / 2
	}
	m := Median{
		Rounds:       len(group),
		RequestsPerS: of(func(r *Result) float64 { return r.RequestsPerS }),
		PassagesPerS: of(func(r *Result) float64 { return r.PassagesPerS }),
		P50:          of(func(r *Result) float64 { return r.Latency.P50 }),
		P99:          of(func(r *Result) float64 { return r.Latency.P99 }),
	}
	for _, r := range group {
		m.RSSMB = max(m.RSSMB, r.RSSMB)
		m.Rejected += r.Counts[load.Rejected]
		m.ErrorsAll += r.Errors()
	}
	return m
}

// Compare is the table of medians with, in every cell, what ours is against each server: passages a second as a multiple, p50 and p99 as shares.
func Compare(results []Result, ours string) *Table {
	t := &Table{Header: []string{
		"server", "workload", "load", "req/s", "passages/s", "p50 ms", "p99 ms", "RSS MB", "rejected", "errors",
		ours + " passages/s over it", ours + " p50 over its", ours + " p99 over its", "rounds",
	}}
	medians := Medians(results)
	for _, m := range medians {
		row := []any{m.Server, m.Workload, m.Load, m.RequestsPerS, m.PassagesPerS, m.P50, m.P99, orDash(m.RSSMB), m.Rejected, m.ErrorsAll}
		i := slices.IndexFunc(medians, func(o Median) bool { return o.Server == ours && o.Workload == m.Workload && o.Load == m.Load })
		if i < 0 {
			row = append(row, "-", "-", "-")
		} else {
			o := medians[i]
			row = append(row, ratio(o.PassagesPerS, m.PassagesPerS), ratio(o.P50, m.P50), ratio(o.P99, m.P99))
		}
		t.Add(append(row, m.Rounds)...)
	}
	return t
}

func ratio(a, b float64) any {
	if b == 0 {
		return "-"
	}
	return a / b
}
