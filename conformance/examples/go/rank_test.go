// Package rank_test shows how to rank from Go with the standard library alone.
package rank_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"
)

// Ranked is one passage of the answer: its place in the request, and the model's score.
type Ranked struct {
	Index int     `json:"index"`
	Logit float32 `json:"logit"`
}

// Rank orders passages by their relevance to query, best first. It sends the request once: on 429 and 503, Retry-After says when to
// come again.
func Rank(ctx context.Context, url, model, query string, passages []string) ([]Ranked, error) {
	type text struct {
		Text string `json:"text"`
	}
	request := struct {
		Model    string `json:"model"`
		Query    text   `json:"query"`
		Passages []text `json:"passages"`
		Truncate string `json:"truncate"`
	}{Model: model, Query: text{query}, Truncate: "END"}
	for _, passage := range passages {
		request.Passages = append(request.Passages, text{passage})
	}
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/ranking", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	post.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(post)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var answer struct {
		Rankings        []Ranked
		Message, Detail string
		RequestID       string `json:"request_id"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("%s: %w", response.Status, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s %s (request %s)", response.Status, answer.Message, answer.Detail, answer.RequestID)
	}
	return answer.Rankings, nil
}

// A server that answers as the proxy would, so that the example runs by itself.
var server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	fmt.Fprint(w, `{"rankings":[{"index":1,"logit":5.25},{"index":0,"logit":-7.5}],"usage":{"prompt_tokens":31,"total_tokens":31}}`)
}))

func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	passages := []string{"The ferry leaves at nine.", "Rinse rice until the water runs clear."}
	ranked, err := Rank(ctx, server.URL, "minilm-l6-rerank", "how do I wash rice", passages)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range ranked {
		fmt.Printf("%.2f %s\n", r.Logit, passages[r.Index])
	}
	// Output:
	// 5.25 Rinse rice until the water runs clear.
	// -7.50 The ferry leaves at nine.
}
