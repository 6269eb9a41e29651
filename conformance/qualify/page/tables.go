package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"trtmc-ranking-proxy/bench/report"
	"trtmc-ranking-proxy/conformance/qualify/accounting"
	"trtmc-ranking-proxy/conformance/qualify/evidence"
	"trtmc-ranking-proxy/conformance/qualify/gate"
)

func gateSummary(r *evidence.Result) string {
	return fmt.Sprintf("%d of %d passed. Those of the AIPerf runs, the same for each load, are counted under Accounts.", len(r.Gates)-len(gate.Failed(r.Gates)), len(r.Gates))
}

// gates leaves out those of the accounts, which are eight for each load and all passed, or there would be no result.
func gates(r *evidence.Result) *report.Table {
	t := &report.Table{Header: []string{"step", "gate", "demanded", "measured", "passed"}}
	for i := range r.Gates {
		g := &r.Gates[i]
		if g.Step == accounting.Step && g.Passed {
			continue
		}
		measured := "-"
		if g.Measured != nil {
			measured = fmt.Sprintf("%.6g", *g.Measured)
		}
		t.Add(g.Step, g.Name, g.Demand(), measured, map[bool]string{true: "yes", false: "NO"}[g.Passed])
	}
	return t
}

func rates(r *evidence.Result) *report.Table {
	t := &report.Table{Header: []string{"load", "requests", "req/s", "passages/s", "tokens/s", "client p50 ms", "p90", "p99", "max", "Task call p50 ms", "p99"}}
	for _, f := range r.Figures {
		t.Add(f.Load, f.Requests, f.RequestsPerS, f.PassagesPerS, counted(f.TokensPerS), f.Client.P50, f.Client.P90, f.Client.P99, f.Client.Max, f.Call.P50, f.Call.P99)
	}
	return t
}

// counted is a dash for what a Task does not count.
func counted(tokens float64) any {
	if tokens == 0 {
		return "-"
	}
	return tokens
}

func clocks(r *evidence.Result) *report.Table {
	t := &report.Table{Header: []string{"load", "client p50", "p99", "handler p50", "p99", "ipc p50", "p99", "queue p50", "p99", "public_task_call_wall p50", "p99"}}
	for _, f := range r.Figures {
		t.Add(f.Load, f.Client.P50, f.Client.P99, f.Handler.P50, f.Handler.P99, f.IPC.P50, f.IPC.P99, f.Queue.P50, f.Queue.P99, f.Call.P50, f.Call.P99)
	}
	return t
}

func accounts(r *evidence.Result) *report.Table {
	t := &report.Table{Header: []string{"load", "measured", "warm-up", "recorded by the proxy", "matched", "equal to the Task's own answer", "unmatched", "failed", "different"}}
	for i := range r.Accounts {
		a := &r.Accounts[i]
		t.Add(a.Load.Name(), a.Profiled, a.Warmup, a.Recorded, a.Matched, a.Compared, len(a.Unmatched), len(a.Failures), len(a.Different))
	}
	for _, finding := range findings(r) {
		t.Add(finding.ID, finding.Problem)
	}
	return t
}

func findings(r *evidence.Result) []accounting.Finding {
	var all []accounting.Finding
	for i := range r.Accounts {
		a := &r.Accounts[i]
		all = slices.Concat(all, a.Unmatched, a.Failures, a.Different, a.Disorder)
	}
	return all
}

func agreementText(r *evidence.Result) string {
	m := r.Agreement
	if m == nil {
		return "There are no reference scores, so nothing could be compared. That is a gap, not a pass."
	}
	return fmt.Sprintf("%d queries, %d pairs, against %s. Means over queries, least in brackets: pairwise ordering agreement %.4f (%.3f), Kendall tau %.4f (%.3f), "+
		"Spearman rho %.4f (%.3f). Score correlation over all pairs %.5f; mean error %.4f, largest %.3f, as served. The best passage is the same for %.1f %% of the queries.",
		m.Queries, m.Pairs, r.Reference.Path, m.PairwiseOrderingAgreement.Mean, m.PairwiseOrderingAgreement.Least, m.KendallTau.Mean, m.KendallTau.Least,
		m.SpearmanRho.Mean, m.SpearmanRho.Least, m.ScoreCorrelation, m.MeanError, m.LargestError, 100*m.BestPassageAgrees)
}

func identityTable(r *evidence.Result) *report.Table {
	i, t := r.Identity, &report.Table{Header: []string{"", "", ""}}
	add := func(what, value string) { t.Add(what, value, "") }
	add("checkpoint", i.Checkpoint)
	add("revision", i.Revision)
	add("profile", i.Profile)
	add("family", i.Served.Family)
	add("Task", i.Served.Task)
	add("backend, effective precision", i.Served.Backend+", "+i.Served.Precision)
	add("tokens in a pair, at most", fmt.Sprint(counted(float64(i.Served.MaxTokens))))
	for _, file := range i.Files {
		add(file.Path, "sha256:"+file.SHA256)
	}
	add("instructions", strings.Join(i.Machine.ISA, " "))
	add("memory, kernel, GPU", i.Machine.Memory+", "+i.Machine.Kernel+", "+i.Machine.GPU)
	for _, name := range slices.Sorted(maps.Keys(i.Settings)) {
		add(name, i.Settings[name])
	}
	return t
}

func versions(r *evidence.Result) *report.Table {
	t := &report.Table{Header: []string{"program", "says", ""}}
	for _, name := range slices.Sorted(maps.Keys(r.Identity.Versions)) {
		for _, line := range r.Identity.Versions[name] {
			t.Add(name, line, "")
		}
	}
	return t
}

func commands(r *evidence.Result) *report.Table {
	t := &report.Table{Header: []string{"command"}}
	for _, command := range r.Identity.Commands {
		t.Add(command)
	}
	return t
}
