package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"trtmc-ranking-proxy/bench/load"
	"trtmc-ranking-proxy/bench/workloads"
)

func histogram(values ...int64) *hdrhistogram.Histogram {
	h := hdrhistogram.New(1, 3_600_000_000, 3)
	for _, v := range values {
		if err := h.RecordValue(v); err != nil {
			panic(err)
		}
	}
	return h
}

func example() Result {
	plan := load.Plan{Concurrency: 4, WarmUp: time.Second, Objective: 5 * time.Millisecond}
	return NewResult(&workloads.Workload{Name: "W3", Digest: "sha256:00"}, plan, &load.Outcome{
		Window: 2 * time.Second, Counts: map[load.Kind]int{load.OK: 4, load.Rejected: 2, load.TimedOut: 1, load.Failed: 1}, Good: 3,
		CompletedOK: 6, CompletedPassages: 24, CompletedTokens: 1200, CPU: time.Millisecond,
		Latency: histogram(1000, 2000, 3000, 9000), Rejected: histogram(100, 200), SendLag: histogram(1, 1),
		Stages: map[string]*hdrhistogram.Histogram{"queue": histogram(500)},
	})
}

func TestResultArithmetic(t *testing.T) {
	r := example()
	f := func(name string, got, want float64) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	f("requests/s", r.RequestsPerS, 3)
	f("passages/s", r.PassagesPerS, 12)
	f("tokens/s", r.TokensPerS, 600)
	f("goodput/s", r.GoodputPerS, 1.5)
	f("offered/s", r.Rate, 4)
	f("errors", float64(r.Errors()), 2)
	f("p50", r.Latency.P50, 2)
	f("rejected max", r.Rejected.Max, 0.2)
	f("us a request", r.Generator.USPerRequest, 125)
	if r.Load() != "closed loop, 4 in flight" {
		t.Errorf("load %q", r.Load())
	}
}

func TestRunReadsBackWhatItWrote(t *testing.T) {
	run := Run{Machine: ThisMachine(), Command: "ranking-bench run", Results: []Result{example()}}
	var first, second bytes.Buffer
	if err := run.Write(&first); err != nil {
		t.Fatal(err)
	}
	read, err := ReadRun(bytes.NewReader(first.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := read.Write(&second); err != nil || first.String() != second.String() {
		t.Errorf("%v: wrote\n%s\nthen\n%s", err, first.String(), second.String())
	}
}

func TestReadRunRefuses(t *testing.T) {
	f := func(data, want string) {
		t.Helper()
		if _, err := ReadRun(strings.NewReader(data)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", data, err, want)
		}
	}
	f(`{"speed":1}`, "unknown field")
	f(`{"results":[{"loop":"half open"}]}`, "neither")
	f(`{"results":[{"loop":"open loop","counts":{"ok":-1}}]}`, "-1 requests")
	f(`{`, "EOF")
}

func FuzzReadRun(f *testing.F) {
	run := Run{Results: []Result{example()}}
	var b bytes.Buffer
	if err := run.Write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(`{"results":[{"loop":"open loop","counts":{"ok":1}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		run, err := ReadRun(bytes.NewReader(data))
		if err != nil {
			return
		}
		table := Results(run.Results)
		for i, row := range table.Rows {
			if len(row) != len(table.Header) {
				t.Errorf("row %d has %d cells under %d headings", i, len(row), len(table.Header))
			}
		}
	})
}

func TestPageIsWellFormed(t *testing.T) {
	dir := t.TempDir()
	page := Page{Title: "T <1>", Lines: []string{"a & b"}, Sections: []Section{
		{Heading: "Table", Table: Results([]Result{example()})},
		{Heading: "Plot", Plot: &Plot{Title: "t", X: "x", Y: "y", LogX: true, LogY: true, Lines: []Line{{Name: "l", Points: []Point{{2, 3}, {1, 2}, {0, 1}}}}}},
	}}
	if err := page.Write(dir, "last"); err != nil {
		t.Fatal(err)
	}
	markdown, err := os.ReadFile(filepath.Join(dir, "last.md"))
	if err != nil || !strings.Contains(string(markdown), "| W3 | closed loop, 4 in flight |") || !strings.Contains(string(markdown), "(last-2.svg)") {
		t.Errorf("%v: %s", err, markdown)
	}
	html, err := os.ReadFile(filepath.Join(dir, "last.html"))
	if err != nil || !strings.Contains(string(html), "T &lt;1&gt;") || !strings.Contains(string(html), "<svg") || strings.Contains(string(html), "http-equiv") {
		t.Errorf("%v: %.400s", err, html)
	}
	svg, err := os.Open(filepath.Join(dir, "last-2.svg"))
	if err != nil {
		t.Fatal(err)
	}
	defer svg.Close()
	for d := xml.NewDecoder(svg); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
	}
}

func TestMarkdownEscapesBars(t *testing.T) {
	table := Table{Header: []string{"a"}}
	table.Add("x|y")
	var b strings.Builder
	if err := table.WriteMarkdown(&b); err != nil || b.String() != "| a |\n| --- |\n| x\\|y |\n" {
		t.Errorf("%v: %q", err, b.String())
	}
}

// Every stage is in one column, and the columns add up to what the client waited.
func TestBudgetAddsUp(t *testing.T) {
	r := Result{Server: "s", Workload: "W1", Latency: Percentiles{Mean: 100}, Stages: map[string]Percentiles{
		"handler": {Mean: 90}, "parse": {Mean: 7}, "ipc": {Mean: 77}, "queue": {Mean: 20}, "tokenize": {Mean: 5}, "model": {Mean: 50}, "render": {Mean: 3},
	}}
	var page strings.Builder
	if err := Budget([]Result{r, {Server: "of others"}}).WriteMarkdown(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| 100 | 10.0 | 7.00 | 3.00 | 7.00 | 15.0 | 5.00 | 50.0 | 3.00 |"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %s in\n%s", want, page.String())
		}
	}
	if strings.Contains(page.String(), "of others") {
		t.Error("a server without stages is in the budget")
	}
}
