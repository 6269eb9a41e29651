package evidence_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"trtmc-ranking-proxy/conformance/qualify/agreement"
	"trtmc-ranking-proxy/conformance/qualify/evidence"
	"trtmc-ranking-proxy/conformance/qualify/evidence/evidencetest"
)

func TestHonestEvidenceVerifies(t *testing.T) {
	f := func(name string, change func(*evidence.Result)) {
		t.Helper()
		h := evidencetest.New()
		change(&h.Result)
		if _, err := evidence.Verify(h.Tree(t), evidencetest.Path); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	f("qualified", func(*evidence.Result) {})
	f("validated", func(r *evidence.Result) { r.Status, r.Gaps = "family-validated", []string{"no AIPerf"} })
	f("shown on a double", func(r *evidence.Result) {
		r.Status, r.Fixture, r.Gaps, r.Reference, r.Agreement = "implemented", true, []string{"a double"}, nil, nil
	})
}

// Each cheat writes evidence whose digests fit, so that only looking at what it says can tell.
func TestForgedResultsAreCaught(t *testing.T) {
	f := func(name, problem string, forge func(*evidencetest.Honest)) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			h := evidencetest.New()
			forge(h)
			if _, err := evidence.Verify(h.Tree(t), evidencetest.Path); err == nil || !strings.Contains(err.Error(), problem) {
				t.Errorf("got %v, want %q", err, problem)
			}
		})
	}
	low := 0.5
	f("a failed gate called passed", "a gate did not pass", func(h *evidencetest.Honest) { h.Result.Gates[3].Measured = &low })
	f("a failed gate left out", "a gate is missing", func(h *evidencetest.Honest) {
		h.Result.Agreement.KendallTau.Mean = low
		h.Result.Gates = append(h.Result.Gates[:4:4], h.Result.Gates[5:]...)
	})
	f("a gate loosened", "a gate is missing", func(h *evidencetest.Honest) {
		h.Result.Agreement.KendallTau.Mean, h.Result.Gates[4].AtLeast, h.Result.Gates[4].Measured = low, &low, &low
	})
	f("a missing reference", "against the schema", func(h *evidencetest.Honest) { h.Result.Reference, h.Result.Agreement = nil, nil })
	f("a fixture", "against the schema", func(h *evidencetest.Honest) { h.Result.Fixture = true })
	f("a gap hidden by the status", "against the schema", func(h *evidencetest.Honest) { h.Result.Gaps = []string{"half of it"} })
	f("no AIPerf", "against the schema", func(h *evidencetest.Honest) { h.Result.Accounts = h.Result.Accounts[:0] })
	f("closed loops only", "without a closed loop and a constant rate", func(h *evidencetest.Honest) {
		h.Result.Accounts[1].Load.Rate, h.Result.Accounts[1].Load.Concurrency = 0, 4
	})
	f("a request removed", "in evidence", func(h *evidencetest.Honest) { h.Requests = h.Requests[:len(h.Requests)-1] })
	f("a request doubled", "stands for two", func(h *evidencetest.Honest) { h.Requests[3] = h.Requests[2] })
	f("warm-up measured", "in evidence", func(h *evidencetest.Honest) { h.Requests[0].Warmup = false })
	f("other scores", "other scores than the Task's own", func(h *evidencetest.Honest) { h.Requests[2].ScoresSHA = h.Requests[3].ScoresSHA })
	f("a bit of an answer", "other scores than the Task's own", func(h *evidencetest.Honest) { h.Answers.Scores[1][0] = 0.25000003 })
	f("faster figures", "figures are not those", func(h *evidencetest.Honest) { h.Result.Figures[1].Client.P99 /= 2 })
	f("a slow request made fast", "figures are not those", func(h *evidencetest.Honest) { h.Requests[3].ClientUS /= 2 })
	f("a finding hidden", "a gate is missing", func(h *evidencetest.Honest) { h.Result.Accounts[0].Matched, h.Result.Accounts[0].Compared = 4, 4 })
	f("native and HTTP differ", "a gate is missing", func(h *evidencetest.Honest) { h.Result.Parity.Rejected = 0 })
	f("an unknown status", "against the schema", func(h *evidencetest.Honest) { h.Result.Status = "certified" })
	f("other criteria", "a gate is missing", func(h *evidencetest.Honest) {
		strict := 1.5
		h.Result.Criteria = agreement.Criteria{KendallTau: &strict}
	})
}

func TestChangedFilesAreCaught(t *testing.T) {
	f := func(problem string, spoil func(fstest.MapFS)) {
		t.Helper()
		tree := evidencetest.New().Tree(t)
		spoil(tree)
		if _, err := evidence.Verify(tree, evidencetest.Path); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("got %v, want %q", err, problem)
		}
	}
	const dir = "bench/results/m/2026-12-01/"
	f("is not the file", func(tree fstest.MapFS) {
		tree[dir+evidence.AnswersFile].Data = append(tree[dir+evidence.AnswersFile].Data, ' ')
	})
	f("not exist", func(tree fstest.MapFS) { delete(tree, dir+evidence.RequestsFile) })
	f("not exist", func(tree fstest.MapFS) { delete(tree, evidencetest.Path) })
	f("no JSON", func(tree fstest.MapFS) { tree[evidencetest.Path].Data = []byte("{") })
	f("against the schema", func(tree fstest.MapFS) { tree[evidencetest.Path].Data = []byte("{}") })
}
