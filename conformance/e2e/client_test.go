//go:build e2e

// Package e2e runs the real programs over real sockets: the built ranking-task and ranking-proxy, the committed model, faults and all.
// Build them first (make test-e2e does).
package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"trtmc-ranking-proxy/conformance/stack"
)

// answer is either form of a NIM answer.
type answer struct {
	Rankings []struct {
		Index int     `json:"index"`
		Logit float32 `json:"logit"`
	} `json:"rankings"`
	Usage *struct {
		PromptTokens uint64 `json:"prompt_tokens"`
		TotalTokens  uint64 `json:"total_tokens"`
	} `json:"usage"`
	Error     string `json:"error"`
	Message   string `json:"message"`
	Detail    string `json:"detail"`
	RequestID string `json:"request_id"`

	raw    string
	header http.Header
}

// defaultModel is the arguments that serve the built-in model; RANKING_TASK_ARGS puts another Task in its place, split at spaces.
func defaultModel(t *testing.T) []string {
	t.Helper()
	if args := os.Getenv("RANKING_TASK_ARGS"); args != "" {
		return strings.Fields(args)
	}
	return []string{"--task", "openvino", "--model", filepath.Join(stack.Root(), "native/models/minilm-l6-rerank")}
}

// start starts a Task and a proxy, ended with the test; on failure their logs are shown.
func start(t *testing.T, taskArgs, proxyArgs []string) *stack.Stack {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := stack.Start(ctx, stack.Config{Dir: socketDir(t), TaskArgs: taskArgs, ProxyArgs: proxyArgs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Stop()
		if t.Failed() {
			t.Logf("task log:\n%s\nproxy log:\n%s", tail(s.Task.Log()), tail(s.Proxy.Log()))
		}
	})
	return s
}

// socketDir is a directory whose name is short enough for a socket path, unlike t.TempDir of a long test name.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rk")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func body(model, query string, passages []string, truncate string) string {
	type text struct {
		Text string `json:"text"`
	}
	texts := make([]text, len(passages))
	for i, p := range passages {
		texts[i] = text{p}
	}
	b, err := json.Marshal(map[string]any{"model": model, "query": text{query}, "passages": texts, "truncate": truncate})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// rank posts a body to /v1/ranking. A transport failure fails the test.
func rank(t *testing.T, url, body string) (int, answer) {
	t.Helper()
	status, a, err := tryRank(t.Context(), url, body)
	if err != nil {
		t.Errorf("POST /v1/ranking: %v", err)
	}
	return status, a
}

func tryRank(ctx context.Context, url, body string) (int, answer, error) {
	var a answer
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/ranking", bytes.NewReader([]byte(body)))
	if err != nil {
		return 0, a, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, a, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, a, err
	}
	a.raw, a.header = string(raw), resp.Header
	return resp.StatusCode, a, json.Unmarshal(raw, &a)
}

func tail(log string) string {
	lines := strings.Split(log, "\n")
	return strings.Join(lines[max(0, len(lines)-30):], "\n")
}
