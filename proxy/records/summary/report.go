package summary

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// report is the JSON form, from which the table and the page are made too.
type report struct {
	Records int           `json:"records"`
	Warmup  int           `json:"warmup"` // not in the records above
	Unsent  int           `json:"unsent"`
	Damage                // lines that are no record
	First   *time.Time    `json:"first,omitempty"`
	Last    *time.Time    `json:"last,omitempty"`
	Seconds float64       `json:"seconds"`
	Groups  []groupReport `json:"groups"`
}

type groupReport struct {
	Model     string                `json:"model"`
	Outcome   string                `json:"outcome"`
	Count     int                   `json:"count"`
	Passages  int64                 `json:"passages"`
	Tokens    int64                 `json:"tokens"`
	Truncated int64                 `json:"truncated"`
	Requests  float64               `json:"requests_per_s"`
	PassagesS float64               `json:"passages_per_s"`
	TokensS   float64               `json:"tokens_per_s"`
	Clocks    map[Clock]clockReport `json:"clocks_ms"`
}

// clockReport is a distribution in milliseconds.
type clockReport struct {
	Count int64   `json:"count"`
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p99.9"`
	Max   float64 `json:"max"`
}

func (s *Summary) report() report {
	r := report{Records: s.Records, Warmup: s.Warmup, Unsent: s.Unsent, Damage: s.Damage, Groups: []groupReport{}}
	if s.Records == 0 {
		return r
	}
	r.First, r.Last, r.Seconds = &s.First, &s.Last, s.Seconds()
	for _, g := range s.Sorted() {
		r.Groups = append(r.Groups, g.report(r.Seconds))
	}
	return r
}

func (g *Group) report(seconds float64) groupReport {
	r := groupReport{
		Model: g.Model, Outcome: g.Outcome, Count: g.Count, Passages: g.Passages, Tokens: g.Tokens, Truncated: g.Truncated,
		Clocks: make(map[Clock]clockReport, len(g.Times)),
	}
	if seconds > 0 {
		r.Requests, r.PassagesS, r.TokensS = float64(g.Count)/seconds, float64(g.Passages)/seconds, float64(g.Tokens)/seconds
	}
	for clock, h := range g.Times {
		r.Clocks[clock] = reportClock(h)
	}
	return r
}

func reportClock(h *hdrhistogram.Histogram) clockReport {
	at := func(percentile float64) float64 { return float64(h.ValueAtPercentile(percentile)) / 1000 }
	return clockReport{
		Count: h.TotalCount(), Mean: h.Mean() / 1000, P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), Max: float64(h.Max()) / 1000,
	}
}

// WriteJSON writes the summary as one JSON object.
func (s *Summary) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(s.report())
}

// WriteText writes the summary as tables for a terminal.
func (s *Summary) WriteText(w io.Writer) error {
	r := s.report()
	if _, err := fmt.Fprintln(w, strings.Join(r.heading(), "\n")+"\n"); err != nil {
		return err
	}
	for _, t := range []table{r.counts(), r.clocks()} {
		if err := t.write(w); err != nil {
			return err
		}
	}
	return nil
}

// heading says what was read, and what is wrong with it.
func (r *report) heading() []string {
	lines := []string{fmt.Sprintf("%d records in %s s, %d warm-up requests left out", r.Records, number(r.Seconds), r.Warmup)}
	if r.First != nil {
		lines = append(lines, "from "+r.First.UTC().Format(time.RFC3339)+" to "+r.Last.UTC().Format(time.RFC3339))
	}
	if r.Unsent > 0 {
		lines = append(lines, fmt.Sprintf("%d answers could not be sent: their client had gone", r.Unsent))
	}
	if r.Garbage+r.Torn > 0 {
		lines = append(lines, fmt.Sprintf("damaged: lines that are no record: %d; torn last lines: %d", r.Garbage, r.Torn))
	}
	return lines
}

// table is rows under a header, in cells of text.
type table struct {
	Header []string
	Rows   [][]string
}

func (r *report) counts() table {
	t := table{Header: []string{"model", "outcome", "requests", "requests/s", "passages", "passages/s", "tokens", "tokens/s", "pairs cut"}}
	for _, g := range r.Groups {
		t.Rows = append(t.Rows, []string{
			g.name(), g.Outcome, fmt.Sprint(g.Count), number(g.Requests), fmt.Sprint(g.Passages), number(g.PassagesS),
			fmt.Sprint(g.Tokens), number(g.TokensS), fmt.Sprint(g.Truncated),
		})
	}
	return t
}

func (r *report) clocks() table {
	t := table{Header: []string{"model", "outcome", "clock, ms", "requests", "mean", "p50", "p90", "p99", "p99.9", "max"}}
	for _, g := range r.Groups {
		for _, clock := range Clocks {
			c, measured := g.Clocks[clock]
			if !measured {
				continue
			}
			t.Rows = append(t.Rows, []string{
				g.name(), g.Outcome, string(clock), fmt.Sprint(c.Count), number(c.Mean), number(c.P50), number(c.P90), number(c.P99), number(c.P999), number(c.Max),
			})
		}
	}
	return t
}

// name is the model's, or says that no Task was ever reached.
func (g *groupReport) name() string {
	if g.Model == "" {
		return "(none)"
	}
	return g.Model
}

func (t table) write(w io.Writer) error {
	tabs := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{t.Header}, t.Rows...) {
		fmt.Fprintln(tabs, strings.Join(row, "\t"))
	}
	fmt.Fprintln(tabs)
	return tabs.Flush()
}

// number has four significant digits, and none behind the point from a thousand on.
func number(f float64) string {
	if f >= 1000 {
		return fmt.Sprintf("%.0f", f)
	}
	return fmt.Sprintf("%.4g", f)
}
