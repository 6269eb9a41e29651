package page

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"trtmc-ranking-proxy/bench/report"
	"trtmc-ranking-proxy/conformance/qualify/evidence"
)

// The table of results in a document stands between these lines.
const (
	TableBegin = "<!-- results of make qualify, written by it: begin -->"
	TableEnd   = "<!-- results of make qualify: end -->"
)

// UpdateTable writes the latest result of every entry below results into the document, both relative to the root. dir is the same root as a path.
func UpdateTable(root fs.FS, dir, results, document string) error {
	found, err := latest(root, results)
	if err != nil {
		return fmt.Errorf("table of results: %w", err)
	}
	var table strings.Builder
	_ = rows(found, path.Dir(document)).WriteMarkdown(&table) // a strings.Builder takes everything
	file := filepath.Join(dir, document)
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("table of results: %w", err)
	}
	before, rest, begun := strings.Cut(string(data), TableBegin)
	_, after, ended := strings.Cut(rest, TableEnd)
	if !begun || !ended {
		return fmt.Errorf("table of results: %s has no place for it", document)
	}
	return os.WriteFile(file, []byte(before+TableBegin+"\n"+table.String()+TableEnd+after), 0o644)
}

type located struct {
	*evidence.Result
	path string
}

// latest reads results/<entry>/<date>/result.json of the last date of every entry.
func latest(root fs.FS, results string) ([]located, error) {
	names, err := fs.Glob(root, path.Join(results, "*", "*", evidence.ResultFile)) // sorted
	if err != nil {
		return nil, err
	}
	var all []located
	for _, name := range names {
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return nil, err
		}
		r, err := evidence.Parse(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if n := len(all); n > 0 && all[n-1].Entry == r.Entry {
			all = all[:n-1]
		}
		all = append(all, located{r, name})
	}
	return all, nil
}

func rows(results []located, from string) *report.Table {
	t := &report.Table{Header: []string{
		"entry", "status", "date", "precision", "tau, rho, correlation", "requests, all matched and equal", "1 in flight: client p50, Task call p50 ms", "best passages/s", "machine",
	}}
	for _, r := range results {
		link, err := filepath.Rel(from, path.Join(path.Dir(r.path), Name+".md"))
		if err != nil {
			link = r.path
		}
		status := r.Status + ", " + r.Section
		if r.Fixture {
			status += ", **on a double**"
		}
		t.Add(fmt.Sprintf("[%s](%s)", r.Entry, filepath.ToSlash(link)), status, r.Date, r.Identity.Served.Precision, agreementCell(r.Result), matchedCell(r.Result),
			firstLatency(r.Result), bestRate(r.Result), fmt.Sprintf("%s, %d cores, load %s", r.Identity.Machine.CPU, r.Identity.Machine.Cores, r.Identity.Machine.LoadAverage))
	}
	return t
}

func agreementCell(r *evidence.Result) string {
	if r.Agreement == nil {
		return "no reference"
	}
	return fmt.Sprintf("%.3f, %.3f, %.4f", r.Agreement.KendallTau.Mean, r.Agreement.SpearmanRho.Mean, r.Agreement.ScoreCorrelation)
}

func matchedCell(r *evidence.Result) string {
	sent, equal := 0, 0
	for i := range r.Accounts {
		sent, equal = sent+r.Accounts[i].Profiled+r.Accounts[i].Warmup, equal+r.Accounts[i].Compared
	}
	return fmt.Sprintf("%d of %d", equal, sent)
}

func firstLatency(r *evidence.Result) string {
	if len(r.Figures) == 0 {
		return "-"
	}
	return report.Number(r.Figures[0].Client.P50) + ", " + report.Number(r.Figures[0].Call.P50)
}

func bestRate(r *evidence.Result) string {
	best, at := 0.0, "-"
	for _, f := range r.Figures {
		if f.PassagesPerS > best {
			best, at = f.PassagesPerS, fmt.Sprintf("%s (%s)", report.Number(f.PassagesPerS), f.Load)
		}
	}
	return at
}
