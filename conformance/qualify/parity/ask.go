package parity

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"trtmc-ranking-proxy/conformance/wire"
	"trtmc-ranking-proxy/ipc"
)

// Native asks the Task. The error is of the connection; a refusal is an answer.
func Native(ctx context.Context, conn *ipc.Conn, id string, r *Request) (*Answer, error) {
	scores, err := conn.Rank(ctx, &ipc.Rank{ID: id, Query: r.Query, Passages: r.Passages, Truncate: r.Truncate})
	var refusal *ipc.Error
	switch {
	case errors.As(err, &refusal):
		return &Answer{Kind: string(refusal.Code), Status: statuses[refusal.Code]}, nil
	case err != nil:
		return nil, fmt.Errorf("ask the Task for %s: %w", r.Name, err)
	}
	answer := Scored(scores.Scores)
	return &answer, nil
}

var nim = wire.Dialects["nim"]

// Body is the request as NIM's clients send it.
func Body(model string, r *Request) ([]byte, error) {
	return json.Marshal(nim.Body(model, wire.Request{Query: r.Query, Passages: r.Passages, Truncate: string(r.Truncate)}))
}

// OverHTTP asks the server at url for the same.
func OverHTTP(ctx context.Context, url, model, id string, r *Request) (*Answer, error) {
	body, err := Body(model, r)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", r.Name, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+nim.Path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", r.Name, err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Request-ID", id)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", r.Name, err)
	}
	defer response.Body.Close()
	answered, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("read the answer to %s: %w", r.Name, err)
	}
	return ReadAnswer(response.StatusCode, answered, len(r.Passages))
}

// ReadAnswer reads a body of POST /v1/ranking for so many passages. A body without one score for each passage is an error.
func ReadAnswer(status int, body []byte, passages int) (*Answer, error) {
	if status != http.StatusOK {
		var refusal struct {
			Error string `json:"error"`
		}
		if err := json.Unmarshal(body, &refusal); err != nil || refusal.Error == "" {
			return nil, fmt.Errorf("status %d with a body that names no error", status)
		}
		return &Answer{Kind: refusal.Error, Status: status}, nil
	}
	entries, err := nim.Entries(body)
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	return assemble(entries, passages)
}

func assemble(entries []wire.Entry, passages int) (*Answer, error) {
	if len(entries) != passages {
		return nil, fmt.Errorf("%d rankings for %d passages", len(entries), passages)
	}
	answer := &Answer{Kind: OK, Status: http.StatusOK, Scores: make([]float32, passages)}
	seen := make([]bool, passages)
	for _, e := range entries {
		if e.Index < 0 || e.Index >= passages || seen[e.Index] {
			return nil, fmt.Errorf("index %d is beyond the passages, or there twice", e.Index)
		}
		score, err := strconv.ParseFloat(e.Number, 32) // at once: a float64 between would round twice
		if err != nil {
			return nil, fmt.Errorf("index %d: %w", e.Index, err)
		}
		seen[e.Index] = true
		answer.Scores[e.Index] = float32(score)
		answer.Order = append(answer.Order, e.Index)
	}
	return answer, nil
}
