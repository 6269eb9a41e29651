package traffic

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
)

// answer is either form of a NIM answer.
type answer struct {
	Rankings []struct {
		Index int     `json:"index"`
		Logit float32 `json:"logit"`
	} `json:"rankings"`
	Error     string `json:"error"`
	RequestID string `json:"request_id"`
}

// check tells what is wrong with an answer: nothing if it is complete and right, or a clear error.
func check(q *Question, id string, response *http.Response, body []byte, tolerance float64) error {
	if got := response.Header.Get("X-Request-ID"); got != id {
		return fmt.Errorf("answered with the request id %q", got)
	}
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return fmt.Errorf("status %d, not JSON: %w", response.StatusCode, err)
	}
	if response.StatusCode == http.StatusOK {
		return checkRankings(q, &a, tolerance)
	}
	if a.Error == "" || a.RequestID != id {
		return fmt.Errorf("status %d without an error of its own: %s", response.StatusCode, body)
	}
	return nil
}

func checkRankings(q *Question, a *answer, tolerance float64) error {
	if len(a.Rankings) != len(q.Passages) {
		return fmt.Errorf("%d rankings of %d passages", len(a.Rankings), len(q.Passages))
	}
	seen := make([]bool, len(q.Passages))
	for i, r := range a.Rankings {
		if r.Index < 0 || r.Index >= len(seen) || seen[r.Index] {
			return fmt.Errorf("index %d is out of range or repeated", r.Index)
		}
		seen[r.Index] = true
		if math.Abs(float64(r.Logit-q.Scores[r.Index])) > tolerance {
			return fmt.Errorf("passage %d scored %v, not %v", r.Index, r.Logit, q.Scores[r.Index])
		}
		if i > 0 && a.Rankings[i-1].Logit < r.Logit {
			return fmt.Errorf("place %d is better than the one before", i)
		}
	}
	return nil
}
