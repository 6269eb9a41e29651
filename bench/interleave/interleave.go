// Package interleave measures several servers in turn, A B A B, so that a machine whose speed drifts treats them alike.
package interleave

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"trtmc-ranking-proxy/bench/measure"
	"trtmc-ranking-proxy/bench/report"
	"trtmc-ranking-proxy/bench/workloads"
)

// Cell is one workload under one load.
type Cell struct {
	Workload *workloads.Workload
	Load     measure.Load
}

// Cells pairs a workload with closed loops.
func Cells(w *workloads.Workload, concurrencies ...int) []Cell {
	cells := make([]Cell, len(concurrencies))
	for i, c := range concurrencies {
		cells[i] = Cell{Workload: w, Load: measure.Closed(c)}
	}
	return cells
}

// ParseCell reads WORKLOAD:CONCURRENCY, such as W1:16.
func ParseCell(text string) (Cell, error) {
	name, number, _ := strings.Cut(text, ":")
	concurrency, err := strconv.Atoi(number)
	if err != nil || concurrency < 1 {
		return Cell{}, fmt.Errorf("cell %q: want WORKLOAD:CONCURRENCY, such as W1:16", text)
	}
	w, err := workloads.Load(name)
	return Cell{Workload: w, Load: measure.Closed(concurrency)}, err
}

// Run measures every cell, in each as many rounds as asked, in each round every server once. done is called after each measurement.
func Run(ctx context.Context, servers []measure.Server, cells []Cell, rounds int, s measure.Settings, done func(report.Result)) ([]report.Result, error) {
	var results []report.Result
	for _, cell := range cells {
		for range rounds {
			for _, server := range servers {
				r, err := measure.One(ctx, server, cell.Workload, cell.Load, s)
				if err != nil {
					return results, err
				}
				results = append(results, r)
				done(r)
			}
		}
	}
	return results, nil
}
