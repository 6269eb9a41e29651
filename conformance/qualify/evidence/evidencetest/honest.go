// Package evidencetest makes the evidence of an honest qualification for tests, which then spoil it.
package evidencetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"trtmc-ranking-proxy/conformance/qualify/accounting"
	"trtmc-ranking-proxy/conformance/qualify/agreement"
	"trtmc-ranking-proxy/conformance/qualify/aiperf"
	"trtmc-ranking-proxy/conformance/qualify/dataset"
	"trtmc-ranking-proxy/conformance/qualify/evidence"
	"trtmc-ranking-proxy/conformance/qualify/gate"
	"trtmc-ranking-proxy/conformance/qualify/identity"
)

// Digest is of the bundle.
var Digest = "sha256:" + strings.Repeat("a", 64)

// Path of the result of the entry "m".
const Path = "bench/results/m/2026-12-01/result.json"

// Honest is a qualification before it is written.
type Honest struct {
	Result   evidence.Result
	Requests []accounting.Request
	Answers  evidence.Answers
}

// New makes a qualification of the entry "m" that passes everything.
func New() *Honest {
	h := &Honest{Answers: evidence.Answers{Scores: [][]float32{{1.5, -2}, {0.25, 3}}}}
	criteria := agreement.TaskDefaults()
	perfect := agreement.Summary{Mean: 1, Least: 1}
	h.Result = evidence.Result{
		Schema: evidence.Version, Entry: "m", Section: "ranking group", Status: "aiperf-qualified", Date: "2026-12-01", BundleDigest: Digest,
		Identity: identityOf(), Dataset: evidence.Dataset{Digest: Digest, License: "CC0-1.0", Lengths: dataset.Lengths{Queries: 2, PassagesPerQuery: 2}},
		Reference: &evidence.Reference{Path: "reference.json", Digest: Digest}, Criteria: criteria,
		Agreement: &agreement.Measured{Queries: 2, Pairs: 4, PairwiseOrderingAgreement: perfect, KendallTau: perfect, SpearmanRho: perfect, ScoreCorrelation: 1},
		Parity:    evidence.Parity{Scored: 2, Rejected: 1, Different: []accounting.Finding{}}, Gaps: []string{}, Reproduce: "make qualify MODEL=m",
	}
	for _, load := range []aiperf.Load{{Concurrency: 2, Requests: 4, Warmup: 1}, {Rate: 3, Requests: 4, Warmup: 1}} {
		h.addLoad(load)
	}
	h.Result.Gates = h.gates()
	return h
}

func identityOf() *identity.Identity {
	line := []string{"1"}
	i := &identity.Identity{
		Checkpoint: "c", Revision: "r", Profile: "p", Family: "f", Files: []identity.File{{Path: "model", SHA256: strings.Repeat("a", 64)}},
		Versions: map[string][]string{"ranking-proxy": line, "ranking-task": line, "aiperf": line, "go": line}, Check: line,
		ServingInfo: map[string]any{"task": map[string]any{"bundle_digest": Digest}}, Settings: map[string]string{}, Commands: line,
		Served: identity.Served{Server: "s", Task: "t 1.0", Model: "m", Revision: "r", Family: "f", Backend: "b", Precision: "int8", BundleDigest: Digest, ScoreKind: "logit", MaxPassages: 512},
	}
	i.Machine.CPU, i.Machine.Cores, i.Machine.OS, i.Machine.ISA = "cpu", 2, "linux/amd64", []string{}
	i.Machine.Memory, i.Machine.Kernel, i.Machine.LoadAverage, i.Machine.GPU = "1 kB", "Linux", "0 0 0", "none"
	return i
}

func (h *Honest) addLoad(load aiperf.Load) {
	none := []accounting.Finding{}
	total := load.Requests + load.Warmup
	h.Result.Accounts = append(h.Result.Accounts, accounting.Account{
		Load: load, Profiled: load.Requests, Warmup: load.Warmup, Recorded: total, Matched: total, Compared: total,
		Unmatched: none, Different: none, Disorder: none, Failures: none,
	})
	for i := range total {
		start := int64(1_000_000 * (i + 1))
		h.Requests = append(h.Requests, accounting.Request{
			Load: load.Name(), ID: fmt.Sprintf("%s %d", load.Name(), i), Warmup: i < load.Warmup, Case: i % 2, Status: 200, StartUS: start, EndUS: start + 9000,
			ClientUS: 9000, HandlerUS: 8000, IPCUS: 7000, QueueUS: 1000, CallUS: 5000, Tokens: 40, Passages: 2,
			ScoresSHA: accounting.HashScores(h.Answers.Scores[i%2]),
		})
	}
	h.Result.Figures = append(h.Result.Figures, accounting.NewFigures(load.Name(), h.Requests))
}

func (h *Honest) gates() []gate.Gate {
	gates := append(h.Result.Parity.Gates(), h.Result.Criteria.Gates(h.Result.Agreement)...)
	for i := range h.Result.Accounts {
		gates = append(gates, h.Result.Accounts[i].Gates()...)
	}
	return gates
}

// Tree writes the evidence and the result that names it.
func (h *Honest) Tree(t testing.TB) fstest.MapFS {
	t.Helper()
	var packed bytes.Buffer
	if err := accounting.WriteRequests(&packed, h.Requests); err != nil {
		t.Fatal(err)
	}
	tree := fstest.MapFS{
		path.Join(path.Dir(Path), evidence.RequestsFile): {Data: packed.Bytes()},
		path.Join(path.Dir(Path), evidence.AnswersFile):  {Data: marshal(t, &h.Answers)},
	}
	for _, name := range []string{evidence.AnswersFile, evidence.RequestsFile} {
		file, err := identity.HashFile(tree, path.Join(path.Dir(Path), name))
		if err != nil {
			t.Fatal(err)
		}
		file.Path = name
		h.Result.Files = append(h.Result.Files, file)
	}
	tree[Path] = &fstest.MapFile{Data: marshal(t, &h.Result)}
	return tree
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
