//go:build clients

package clients

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"trtmc-ranking-proxy/conformance/qualify/aiperf"
	"trtmc-ranking-proxy/conformance/stack"
)

// hit is an entry of an answer in any of the three formats.
type hit struct {
	Index     int      `json:"index"`
	Logit     *float64 `json:"logit"`
	Score     *float64 `json:"score"`
	Relevance *float64 `json:"relevance_score"`
}

// Each of AIPerf's endpoint types for ranking gets the Task's scores, and counts a failure as the failure that it is.
func TestAIPerf(t *testing.T) {
	told := startServers(t)
	program := installAIPerf(t)
	f := func(endpoint string, read func(answer []byte) []hit) {
		t.Run(endpoint, func(t *testing.T) {
			lines := profile(t, program, endpoint, told.Open, "any", query, refusals["400"].Query)
			checkHits(t, told.Logits, read(lines[0].answer(t)))
			lines[1].checkFailure(t, "400", "Bad Request")
		})
	}
	f("nim-rankings", func(answer []byte) []hit { return decode[struct{ Rankings []hit }](t, answer).Rankings })
	f("hf-tei-rankings", func(answer []byte) []hit { return decode[[]hit](t, answer) })
	f("cohere-rankings", func(answer []byte) []hit { return decode[struct{ Results []hit }](t, answer).Results })

	t.Run("failures", func(t *testing.T) {
		lines := profile(t, program, "nim-rankings", told.Locked, key, query, refusals["422"].Query, refusals["429"].Query)
		lines[0].answer(t)
		lines[1].checkFailure(t, "422", "Unprocessable Entity")
		lines[2].checkFailure(t, "429", "Too Many Requests")
	})
	t.Run("wrong key", func(t *testing.T) {
		profile(t, program, "nim-rankings", told.Locked, "another-key", query)[0].checkFailure(t, "401", "Unauthorized")
	})
	t.Run("Task stopped", func(t *testing.T) {
		profile(t, program, "nim-rankings", told.Stopped, "any", query)[0].checkFailure(t, "503", "Service Unavailable")
	})
}

// installAIPerf shares the environment with the qualification, which pins the version.
func installAIPerf(t *testing.T) *aiperf.Program {
	t.Helper()
	root := stack.Root()
	venv := filepath.Join(root, "build/qualify/aiperf-venv")
	setup := filepath.Join(root, "conformance/qualify/aiperf/setup.sh")
	if out, err := exec.CommandContext(t.Context(), setup, venv).CombinedOutput(); err != nil {
		t.Fatalf("install: %v\n%s", err, out)
	}
	tokenizer, err := os.ReadFile(filepath.Join(root, "native/models", model, "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := aiperf.WriteTokenizer(dir, tokenizer); err != nil {
		t.Fatal(err)
	}
	return &aiperf.Program{Path: filepath.Join(venv, "bin/aiperf"), Tokenizer: dir}
}

// exported is a line of AIPerf's raw export.
type exported struct {
	Metadata struct {
		Start int64 `json:"request_start_ns"`
	} `json:"metadata"`
	Status    int `json:"status"`
	Responses []struct {
		Text string `json:"text"`
	} `json:"responses"`
	Error *struct {
		Code    int    `json:"code"`
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

// profile lets AIPerf ask each of the queries once, about passages, in order.
func profile(t *testing.T, program *aiperf.Program, endpoint, url, key string, queries ...string) []exported {
	t.Helper()
	dir := t.TempDir()
	inputs, artifacts := filepath.Join(dir, "inputs.jsonl"), filepath.Join(dir, "artifacts")
	writeInputs(t, inputs, queries)
	args := []string{
		"profile", "--model", model, "--url", url, "--api-key", key, "--endpoint-type", endpoint, "--tokenizer", program.Tokenizer,
		"--input-file", inputs, "--custom-dataset-type", "single_turn", "--request-count", strconv.Itoa(len(queries)), "--concurrency", "1",
		"--export-level", "raw", "--artifact-dir", artifacts, "--no-gpu-telemetry", "--ui-type", "none",
	}
	failed := program.Run(t.Context(), args, artifacts) // when no request succeeded, which may be what is wanted
	if failed == nil {
		checkMetrics(t, artifacts)
	}
	lines := readExport(t, artifacts)
	if len(lines) != len(queries) {
		t.Fatalf("%d lines for %d requests: %v", len(lines), len(queries), failed)
	}
	return lines
}

// readExport returns the raw export in the order of the requests. A run without any success leaves it in parts.
func readExport(t *testing.T, artifacts string) (lines []exported) {
	t.Helper()
	files := []string{filepath.Join(artifacts, aiperf.RawExport)}
	if _, err := os.Stat(files[0]); err != nil {
		files, _ = filepath.Glob(filepath.Join(artifacts, "raw_records/*.jsonl"))
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			lines = append(lines, decode[exported](t, line))
		}
	}
	slices.SortFunc(lines, func(a, b exported) int { return cmp.Compare(a.Metadata.Start, b.Metadata.Start) })
	return lines
}

// checkMetrics demands that AIPerf, which scrapes /metrics unless told not to, understood what it read there.
func checkMetrics(t *testing.T, artifacts string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(artifacts, "server_metrics_export.json"))
	if err != nil {
		t.Fatal(err)
	}
	metrics := decode[struct{ Metrics map[string]any }](t, data).Metrics
	if metrics["ranking_proxy_requests"] == nil {
		t.Errorf("no ranking_proxy_requests among %v", slices.Sorted(maps.Keys(metrics)))
	}
}

func writeInputs(t *testing.T, path string, queries []string) {
	t.Helper()
	type texts struct {
		Name     string   `json:"name"`
		Contents []string `json:"contents"`
	}
	var lines []byte
	for _, query := range queries {
		line, err := json.Marshal(map[string]any{"texts": []texts{{"query", []string{query}}, {"passages", passages}}})
		if err != nil {
			t.Fatal(err)
		}
		lines = append(append(lines, line...), '\n')
	}
	if err := os.WriteFile(path, lines, 0o600); err != nil {
		t.Fatal(err)
	}
}

func (e *exported) answer(t *testing.T) []byte {
	t.Helper()
	if e.Status != 200 || e.Error != nil || len(e.Responses) != 1 {
		t.Fatalf("no answer: %+v", e)
	}
	return []byte(e.Responses[0].Text)
}

// checkFailure demands AIPerf's own name of a failure, and the server's words.
func (e *exported) checkFailure(t *testing.T, status, name string) {
	t.Helper()
	words := refusals[status].Words
	if e.Error == nil || strconv.Itoa(e.Error.Code) != status || e.Error.Type != name || !strings.Contains(e.Error.Message, words) {
		t.Errorf("got %+v, want %s %s with %q", e.Error, status, name, words)
	}
}

func checkHits(t *testing.T, logits []float32, hits []hit) {
	t.Helper()
	order := make([]int, len(logits))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(logits[b], logits[a]) })
	if len(hits) != len(order) {
		t.Fatalf("%d hits for %d passages", len(hits), len(order))
	}
	for rank, h := range hits {
		if h.Index != order[rank] || !h.hasScore(logits[h.Index]) {
			t.Errorf("place %d: %+v, want passage %d with %v", rank, h, order[rank], logits[order[rank]])
		}
	}
}

func (h *hit) hasScore(logit float32) bool {
	if h.Logit != nil {
		return float32(*h.Logit) == logit
	}
	relevance := h.Score
	if relevance == nil {
		relevance = h.Relevance
	}
	return relevance != nil && math.Abs(*relevance-1/(1+math.Exp(-float64(logit)))) < 1e-12
}

func decode[T any](t *testing.T, data []byte) (value T) {
	t.Helper()
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return value
}
