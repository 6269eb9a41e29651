//go:build e2e

package models

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"trtmc-ranking-proxy/conformance/stack"
)

// query is one query with its candidates, what answers it, and the f32 logits of transformers in passage order.
type query struct {
	text     string
	passages []string
	relevant map[int]bool
	golden   []float32
}

// goldenLogits is a *.logits.json of tests/goldens/quality.
type goldenLogits struct {
	Texts       string      `json:"texts"`
	TextsSHA256 string      `json:"texts_sha256"`
	Logits      [][]float32 `json:"logits"`
}

// relevantGrade is the grade of a passage that answers its query; lower ones only share its subject, or not even that.
const relevantGrade = 2

func qualityFile(name string) string {
	return filepath.Join(stack.Root(), "native/tests/goldens/quality", name)
}

func shared(path string) string {
	return filepath.Join(stack.Root(), "../shared", path)
}

// ownSet is the committed set in our own wording.
func ownSet(t *testing.T) map[string][]query {
	t.Helper()
	raw := readFile(t, qualityFile("own.json"))
	var texts struct {
		Passages []string
		Queries  []struct {
			Query            string
			Passages, Grades []int
		}
	}
	mustDecode(t, raw, &texts)
	queries := make([]query, len(texts.Queries))
	for i, q := range texts.Queries {
		queries[i] = query{text: q.Query, relevant: map[int]bool{}}
		for at, passage := range q.Passages {
			queries[i].passages = append(queries[i].passages, texts.Passages[passage])
			queries[i].relevant[at] = q.Grades[at] == relevantGrade
		}
	}
	addGolden(t, queries, "own.logits.json", raw)
	return map[string][]query{"own": queries}
}

// evaluationSets are the sets of quality-eval by name. The texts are not part of the project; without them the test is skipped.
func evaluationSets(t *testing.T) map[string][]query {
	t.Helper()
	path := shared("data/quality-eval.jsonl.xz")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the evaluation texts are not here (%s); the same gates run on our own set", path)
	}
	unpacked, err := exec.Command("xz", "-dc", path).Output()
	if err != nil {
		t.Fatalf("unpack the evaluation texts: %v", err)
	}
	var queries []query
	var names []string
	for lines := json.NewDecoder(bytes.NewReader(unpacked)); ; {
		var row struct {
			Set, Query string
			Passages   []string
			Relevant   []int
		}
		if err := lines.Decode(&row); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("read the evaluation texts: %v", err)
		}
		q := query{text: row.Query, passages: row.Passages, relevant: map[int]bool{}}
		for _, at := range row.Relevant {
			q.relevant[at] = true
		}
		queries, names = append(queries, q), append(names, row.Set)
	}
	addGolden(t, queries, "quality-eval.logits.json", readFile(t, path))
	sets := map[string][]query{}
	for i, q := range queries {
		sets[names[i]] = append(sets[names[i]], q)
	}
	return sets
}

// addGolden puts the recorded logits beside their texts, and refuses logits of other texts.
func addGolden(t *testing.T, queries []query, name string, texts []byte) {
	t.Helper()
	var golden goldenLogits
	mustDecode(t, readFile(t, qualityFile(name)), &golden)
	if sum := sha256.Sum256(texts); hex.EncodeToString(sum[:]) != golden.TextsSHA256 {
		t.Fatalf("%s was recorded for other texts than %s holds; make it again with tools/make_goldens.py", name, golden.Texts)
	}
	if len(golden.Logits) != len(queries) {
		t.Fatalf("%s has logits of %d queries, want %d", name, len(golden.Logits), len(queries))
	}
	for i := range queries {
		if len(golden.Logits[i]) != len(queries[i].passages) {
			t.Fatalf("%s, query %d: %d logits for %d passages", name, i, len(golden.Logits[i]), len(queries[i].passages))
		}
		queries[i].golden = golden.Logits[i]
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func mustDecode(t *testing.T, raw []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}
