//go:build e2e

package e2e

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"

	"trtmc-ranking-proxy/ipc"
)

const firstRequest = `{"model":"minilm-l6-rerank","query":{"text":"How do I keep tomatoes from splitting?"},"passages":[
 {"text":"The harbour bridge was painted green in the spring."},
 {"text":"Tomatoes split when dry soil is suddenly soaked; water a little every day and mulch the bed."},
 {"text":"Our shop sells bicycle lamps and bells."},
 {"text":"Tomato plants like sun."}]}`

func TestBestPassageComesFirst(t *testing.T) {
	s := start(t, defaultModel(t), nil)
	status, answer := rank(t, s.URL, firstRequest)
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, answer.raw)
	}
	if got := answer.Rankings[0].Index; got != 1 {
		t.Fatalf("best passage is %d, want 1: %s", got, answer.raw)
	}
	if answer.Rankings[1].Index != 3 {
		t.Fatalf("second best is %d, want 3: %s", answer.Rankings[1].Index, answer.raw)
	}
	if answer.Usage == nil || answer.Usage.TotalTokens < 60 || answer.Usage.TotalTokens > 120 {
		t.Fatalf("usage %+v is not what these four pairs hold", answer.Usage)
	}
}

// Every bit of every score that the Task computes reaches the HTTP client.
func TestHTTPScoresEqualTheTasks(t *testing.T) {
	s := start(t, defaultModel(t), nil)
	conn, err := ipc.Dial(t.Context(), s.Socket, "e2e/1")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	query, passages := "winter storage of apples", manyPassages(40)
	direct, err := conn.Rank(t.Context(), &ipc.Rank{ID: "direct", Query: query, Passages: passages, Truncate: ipc.TruncateEnd})
	if err != nil {
		t.Fatal(err)
	}
	status, answer := rank(t, s.URL, body("minilm-l6-rerank", query, passages, "END"))
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, answer.raw)
	}
	assertSameBits(t, answer, direct.Scores)
	var tokens uint64
	for _, n := range direct.PairTokens {
		tokens += uint64(n)
	}
	if answer.Usage.TotalTokens != tokens {
		t.Fatalf("usage %d, the Task scored %d", answer.Usage.TotalTokens, tokens)
	}
}

// The same request alone and among others of every shape gives the same scores, in the right request.
func TestScoresDoNotDependOnCompany(t *testing.T) {
	s := start(t, defaultModel(t), nil)
	passages := manyPassages(12)
	f := func(n int) string {
		return body("minilm-l6-rerank", fmt.Sprintf("question %d about %s", n, passages[n%len(passages)]), passages[:1+n%12], "END")
	}
	const requests = 32
	alone := make([]answer, requests)
	for n := range alone {
		_, alone[n] = rank(t, s.URL, f(n))
	}
	var wg sync.WaitGroup
	for n := range alone {
		wg.Go(func() {
			status, together := rank(t, s.URL, f(n))
			if status != http.StatusOK {
				t.Errorf("request %d: status %d: %s", n, status, together.raw)
				return
			}
			for i, r := range together.Rankings {
				if want := alone[n].Rankings[i]; r.Index != want.Index || math.Abs(float64(r.Logit-want.Logit)) > 0.05 {
					t.Errorf("request %d, place %d: alone %+v, in a crowd %+v", n, i, want, r)
				}
			}
		})
	}
	wg.Wait()
}

func TestTooLongUnderNoneIsNamed(t *testing.T) {
	s := start(t, defaultModel(t), nil)
	long := strings.Repeat("apple ", 600)
	status, answer := rank(t, s.URL, body("minilm-l6-rerank", "q", []string{"short", long, "short", long}, "NONE"))
	if status != http.StatusBadRequest || answer.Error != "input_too_long" {
		t.Fatalf("status %d: %s", status, answer.raw)
	}
	for _, part := range []string{"1", "604", "512", "2"} {
		if !strings.Contains(answer.Message+answer.Detail, part) {
			t.Errorf("%q is missing from the error: %s", part, answer.raw)
		}
	}
	status, answer = rank(t, s.URL, body("minilm-l6-rerank", "q", []string{"short", long, "short", long}, "END"))
	if status != http.StatusOK || len(answer.Rankings) != 4 {
		t.Fatalf("END: status %d: %s", status, answer.raw)
	}
}

func assertSameBits(t *testing.T, got answer, want []float32) {
	t.Helper()
	if len(got.Rankings) != len(want) {
		t.Fatalf("%d rankings for %d passages", len(got.Rankings), len(want))
	}
	seen := make(map[int]bool)
	for _, r := range got.Rankings {
		if seen[r.Index] || r.Index < 0 || r.Index >= len(want) {
			t.Fatalf("index %d is repeated or out of range", r.Index)
		}
		seen[r.Index] = true
		if math.Float32bits(r.Logit) != math.Float32bits(want[r.Index]) {
			t.Fatalf("passage %d: HTTP %x, Task %x", r.Index, math.Float32bits(r.Logit), math.Float32bits(want[r.Index]))
		}
	}
}

func manyPassages(n int) []string {
	passages := make([]string, n)
	for i := range passages {
		passages[i] = fmt.Sprintf("Row %d of the orchard holds %s", i, strings.Repeat("apples that keep until March when cool and dry. ", 1+i%9))
	}
	return passages
}
