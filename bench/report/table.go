package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"trtmc-ranking-proxy/bench/load"
)

// Table is rows of cells under a header.
type Table struct {
	Header []string
	Rows   [][]string
}

// Add appends a row; each cell is formatted as by fmt.Sprint, floats with three significant digits.
func (t *Table) Add(cells ...any) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		if f, ok := cell.(float64); ok {
			row[i] = Number(f)
			continue
		}
		row[i] = fmt.Sprint(cell)
	}
	t.Rows = append(t.Rows, row)
}

// Number has three significant digits and no exponent.
func Number(f float64) string {
	switch size := max(f, -f); {
	case size == 0:
		return "0"
	case size < 0.001:
		return fmt.Sprintf("%.1e", f)
	case size < 1:
		return fmt.Sprintf("%.3f", f)
	case size < 10:
		return fmt.Sprintf("%.2f", f)
	case size < 100:
		return fmt.Sprintf("%.1f", f)
	default:
		return fmt.Sprintf("%.0f", f)
	}
}

// WriteText writes aligned columns for a terminal.
func (t *Table) WriteText(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{t.Header}, t.Rows...) {
		fmt.Fprintln(tw, strings.Join(row, "\t"))
	}
	return tw.Flush()
}

// WriteMarkdown writes a pipe table.
func (t *Table) WriteMarkdown(w io.Writer) error {
	rule := make([]string, len(t.Header))
	for i := range rule {
		rule[i] = "---"
	}
	for _, row := range append([][]string{t.Header, rule}, t.Rows...) {
		cells := strings.ReplaceAll(strings.Join(row, "\x00"), "|", `\|`)
		if _, err := fmt.Fprintf(w, "| %s |\n", strings.ReplaceAll(cells, "\x00", " | ")); err != nil {
			return err
		}
	}
	return nil
}

// Results is the table of measurements. Latencies are in milliseconds.
func Results(results []Result) *Table {
	t := &Table{Header: []string{
		"server", "workload", "load", "req/s", "passages/s", "tokens/s", "goodput/s",
		"p50 ms", "p90", "p99", "p99.9", "max", "ok", "rejected", "rejected p99 ms", "errors", "generator us/req", "RSS MB",
	}}
	for i := range results {
		r := &results[i]
		t.Add(r.Server, r.Workload, r.Load(), r.RequestsPerS, r.PassagesPerS, orDash(r.TokensPerS), goodput(r),
			r.Latency.P50, r.Latency.P90, r.Latency.P99, r.Latency.P999, r.Latency.Max,
			r.Counts[load.OK], r.Counts[load.Rejected], rejectedP99(r), r.Errors(), r.Generator.USPerRequest, orDash(r.RSSMB))
	}
	return t
}

func rejectedP99(r *Result) any {
	if r.Rejected == nil {
		return "-"
	}
	return r.Rejected.P99
}

func orDash(f float64) any {
	if f == 0 {
		return "-"
	}
	return f
}

func goodput(r *Result) string {
	if r.ObjectiveMS == 0 {
		return "-"
	}
	return fmt.Sprintf("%s (%s ms)", Number(r.GoodputPerS), Number(r.ObjectiveMS))
}

// Stages is the table of Server-Timing stages; its rows are in milliseconds.
func Stages(results []Result) *Table {
	return breakdown(results, "stage", func(r *Result) map[string]Percentiles { return r.Stages })
}

// Classes is the table of latencies by class of request.
func Classes(results []Result) *Table {
	return breakdown(results, "class", func(r *Result) map[string]Percentiles { return r.Classes })
}

func breakdown(results []Result, of string, parts func(*Result) map[string]Percentiles) *Table {
	t := &Table{Header: []string{"server", "workload", "load", of, "n", "mean ms", "p50", "p90", "p99", "p99.9", "max"}}
	for i := range results {
		r := &results[i]
		all := parts(r)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			p := all[name]
			t.Add(r.Server, r.Workload, r.Load(), name, p.N, p.Mean, p.P50, p.P90, p.P99, p.P999, p.Max)
		}
	}
	return t
}
