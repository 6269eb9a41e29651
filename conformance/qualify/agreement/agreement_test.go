package agreement

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"trtmc-ranking-proxy/conformance/qualify/gate"
)

const (
	root   = "../../.."
	scores = "native/tests/goldens/quality/own.logits.json"
	texts  = "native/tests/goldens/quality/own.json"
)

func TestMeasure(t *testing.T) {
	f := func(name string, reference, served []float32, pairwise, tau, rho, correlation float64) {
		t.Helper()
		m, err := Measure([][]float32{reference}, [][]float32{served}, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, c := range []struct{ got, want float64 }{
			{m.PairwiseOrderingAgreement.Mean, pairwise}, {m.KendallTau.Mean, tau}, {m.SpearmanRho.Mean, rho}, {m.ScoreCorrelation, correlation},
		} {
			if math.Abs(c.got-c.want) > 1e-9 {
				t.Errorf("%s: %+v", name, m)
			}
		}
	}
	f("equal", []float32{3, 1, 2}, []float32{3, 1, 2}, 1, 1, 1, 1)
	f("same order, other scale", []float32{3, 1, 2}, []float32{30, 10, 20}, 1, 1, 1, 1)
	f("reversed", []float32{1, 2, 3}, []float32{3, 2, 1}, 0, -1, -1, -1)
	f("one swap of four", []float32{1, 2, 3, 4}, []float32{1, 3, 2, 4}, 5.0/6, 4.0/6, 0.8, 0.8)
	f("a tie served is no agreement", []float32{1, 2, 3}, []float32{1, 2, 2}, 2.0/3, 2.0/3, math.Sqrt(3)/2, math.Sqrt(3)/2)
}

func TestErrors(t *testing.T) {
	within := &ScoreError{AtMost: 0.05, Scale: AsServed}
	m, err := Measure([][]float32{{1, 2}, {3, 9}}, [][]float32{{1.04, 2}, {3, 8}}, within)
	if err != nil {
		t.Fatal(err)
	}
	if m.ShareWithinError != 0.75 || m.LargestError != 1 || math.Abs(m.MeanError-0.26) > 1e-6 || m.BestPassageAgrees != 1 {
		t.Errorf("%+v", m)
	}
	within.Scale = Probability // 8 and 9 are nearly the same probability
	if m, err = Measure([][]float32{{1, 2}, {3, 9}}, [][]float32{{1.04, 2}, {3, 8}}, within); err != nil || m.ShareWithinError != 1 {
		t.Errorf("%v: %+v", err, m)
	}
}

func TestMeasureRefuses(t *testing.T) {
	f := func(problem string, reference, served [][]float32) {
		t.Helper()
		if _, err := Measure(reference, served, nil); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("got %v, want %q", err, problem)
		}
	}
	nan := float32(math.NaN())
	f("0 in the reference", nil, nil)
	f("1 queries served", [][]float32{{1, 2}, {1, 2}}, [][]float32{{1, 2}})
	f("1 scores served", [][]float32{{1, 2}}, [][]float32{{1}})
	f("two at least", [][]float32{{1}}, [][]float32{{1}})
	f("constant", [][]float32{{1, 2}}, [][]float32{{1, 1}})
	f("not finite", [][]float32{{1, 2}}, [][]float32{{1, nan}})
}

func TestGatesAreTheFamilysOrTheTasks(t *testing.T) {
	strict := 1.0
	m := &Measured{PairwiseOrderingAgreement: Summary{Mean: 0.95}, KendallTau: Summary{Mean: 0.9}, SpearmanRho: Summary{Mean: 0.9}, ScoreCorrelation: 0.96, ShareWithinError: 0.89}
	f := func(c Criteria, failed ...string) {
		t.Helper()
		var names []string
		for _, g := range gate.Failed(c.Gates(m)) {
			names = append(names, g.Name)
		}
		if strings.Join(names, " ") != strings.Join(failed, " ") {
			t.Errorf("failed %v, want %v", names, failed)
		}
	}
	f(Criteria{})
	f(Criteria{KendallTau: &strict}, "kendall_tau")
	f(Criteria{PairwiseOrderingAgreement: &strict, SpearmanRho: &strict}, "pairwise_ordering_agreement", "spearman_rho")
	f(Criteria{ScoreError: &ScoreError{AtMost: 0.05, Share: 0.9, Scale: AsServed}}, "share of score errors within 0.05 (score)")
}

func TestReference(t *testing.T) {
	r, err := ReadReference(os.DirFS(root), scores)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Queries) != 64 || len(r.Queries[0].Passages) != len(r.Scores[0]) {
		t.Errorf("%d queries", len(r.Queries))
	}
	read := func(name string) []byte {
		data, err := os.ReadFile(root + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	f := func(problem string, tree fstest.MapFS) {
		t.Helper()
		if _, err := ReadReference(tree, scores); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("got %v, want %q", err, problem)
		}
	}
	f("read reference scores", fstest.MapFS{})
	f("read texts", fstest.MapFS{scores: {Data: read(scores)}})
	f("other texts", fstest.MapFS{scores: {Data: read(scores)}, texts: {Data: append(read(texts), '\n')}})
	f("parse", fstest.MapFS{scores: {Data: []byte("{")}})
	f("scores of 63", fstest.MapFS{scores: {Data: withoutLastRow(read(scores))}, texts: {Data: read(texts)}})
}

// withoutLastRow drops the last query's scores.
func withoutLastRow(data []byte) []byte {
	return append(bytes.Clone(data[:bytes.LastIndex(data, []byte(",\n["))]), "\n]}"...)
}
