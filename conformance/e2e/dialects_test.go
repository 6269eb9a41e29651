//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"testing"

	"trtmc-ranking-proxy/conformance/wire"
	"trtmc-ranking-proxy/ipc"
)

// Whatever format a client speaks, it gets the Task's own scores, in the Task's order.
func TestEveryFormatGivesTheTasksScores(t *testing.T) {
	s := start(t, defaultModel(t), nil)
	conn, err := ipc.Dial(t.Context(), s.Socket, "e2e/1")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	query, passages := "winter storage of apples", manyPassages(24)
	direct, err := conn.Rank(t.Context(), &ipc.Rank{ID: "direct", Query: query, Passages: passages, Truncate: ipc.TruncateEnd})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range wire.Names {
		entries := rankIn(t, s.URL, wire.Dialects[name], wire.Request{Query: query, Passages: passages, Truncate: "END"})
		if len(entries) != len(passages) {
			t.Fatalf("%s: %d entries for %d passages", name, len(entries), len(passages))
		}
		previous := float32(math.MaxFloat32)
		for _, entry := range entries {
			task := direct.Scores[entry.Index]
			if got, want := entry.Score, float64(task); wire.Dialects[name].Squashed && got != 1/(1+math.Exp(-want)) {
				t.Errorf("%s: passage %d has %v, the Task gave %v", name, entry.Index, got, want)
			} else if !wire.Dialects[name].Squashed && entry.Float32() != task {
				t.Errorf("%s: passage %d has %v, the Task gave %v", name, entry.Index, got, want)
			}
			if task > previous {
				t.Errorf("%s: passage %d stands behind a worse one", name, entry.Index)
			}
			previous = task
		}
	}
}

func rankIn(t *testing.T, url string, d *wire.Dialect, r wire.Request) []wire.Entry {
	t.Helper()
	body, err := json.Marshal(d.Body("minilm-l6-rerank", r))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(url+d.Path, "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s %v", d.Name, response.StatusCode, answer, err)
	}
	entries, err := d.Entries(answer)
	if err != nil {
		t.Fatalf("%s: %v", d.Name, err)
	}
	return entries
}
