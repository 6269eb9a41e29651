// Package page shows a result to people: one HTML page with plots, the same as Markdown, and a row in a table.
package page

import (
	"fmt"
	"strings"

	"trtmc-ranking-proxy/bench/report"
	"trtmc-ranking-proxy/conformance/qualify/accounting"
	"trtmc-ranking-proxy/conformance/qualify/evidence"
)

// Name of the files in a result's directory: report.html, report.md and report-N.svg.
const Name = "report"

// Write writes the page of a result beside it.
func Write(dir string, r *evidence.Result, requests []accounting.Request) error {
	p := &report.Page{Title: "Qualification of " + r.Entry, Lines: head(r)}
	p.Sections = append(p.Sections, report.Section{Heading: "Gaps", Text: gaps(r)}, report.Section{Heading: "Gates", Text: gateSummary(r), Table: gates(r)})
	if len(r.Figures) > 0 {
		p.Sections = append(p.Sections,
			report.Section{Heading: "Rates and latencies", Text: "Measured requests only: warm-up, build, load and start-up are in no figure.", Table: rates(r)},
			report.Section{Heading: "Clocks side by side", Text: clocksText, Table: clocks(r)},
			report.Section{Heading: "Latency of the client and of the Task", Plot: latencies(r)},
			report.Section{Heading: "Distribution of latencies", Plot: distribution(r, requests)},
			report.Section{Heading: "Passages a second", Plot: passages(r)},
			report.Section{Heading: "Accounts", Text: "Every request on both sides, by its id, warm-up included.", Table: accounts(r)},
		)
	}
	p.Sections = append(p.Sections, report.Section{Heading: "Agreement with the reference", Text: agreementText(r)},
		report.Section{Heading: "Identity", Table: identityTable(r)}, report.Section{Heading: "Versions", Table: versions(r)},
		report.Section{Heading: "Commands", Text: "Names in capitals stand for what was chosen at run time.", Table: commands(r)})
	return p.Write(dir, Name)
}

func head(r *evidence.Result) []string {
	lines := []string{
		fmt.Sprintf("Status: %s (%s)", r.Status, r.Section),
		fmt.Sprintf("%s; bundle %s", r.Date, r.BundleDigest),
		fmt.Sprintf("%s, %d cores, load average before %s", r.Identity.Machine.CPU, r.Identity.Machine.Cores, r.Identity.Machine.LoadAverage),
		fmt.Sprintf("Dataset: %d queries with %d passages of %d to %d words (median %d), %s", r.Dataset.Queries, r.Dataset.PassagesPerQuery,
			r.Dataset.PassageWords.Least, r.Dataset.PassageWords.Most, r.Dataset.PassageWords.Median, r.Dataset.License),
		"Reproduce: " + r.Reproduce,
	}
	if r.Fixture {
		lines = append([]string{"A double of the runtime was served. This shows that the procedure works, and nothing about the checkpoint."}, lines...)
	}
	return lines
}

func gaps(r *evidence.Result) string {
	if len(r.Gaps) == 0 {
		return "None."
	}
	return strings.Join(r.Gaps, "; ") + "."
}

const clocksText = "The 50th and 99th percentile of each clock, in ms. Client: end to end, by AIPerf. Handler: the proxy, complete request to last byte. ipc: the round " +
	"trip to the Task. Queue: admission to first batch, tokenizing included. public_task_call_wall: first batch start to last batch end."
