//go:build e2e

package models

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"trtmc-ranking-proxy/conformance/stack"
	"trtmc-ranking-proxy/ipc"
)

// inFlight requests keep the Task's batches full and stay below its queue bound.
const inFlight = 4

func defaultModel() string {
	return filepath.Join(stack.Root(), "native/models/minilm-l6-rerank")
}

// f32Model makes the f32 form of the default model from its checkpoint, which is not part of the project.
func f32Model(t *testing.T) string {
	t.Helper()
	checkpoint := shared("model/minilm-l6-rerank")
	if _, err := os.Stat(checkpoint); err != nil {
		t.Skipf("the checkpoint is not here (%s), so there is no f32 form to test", checkpoint)
	}
	python := os.Getenv("RANKING_PYTHON")
	if python == "" {
		python = filepath.Join(stack.Root(), ".deps/python/bin/python3")
	}
	target := t.TempDir()
	tool := filepath.Join(stack.Root(), "native/models/tools/bert_f32.py")
	if output, err := exec.Command(python, tool, checkpoint, target).CombinedOutput(); err != nil {
		t.Fatalf("make the f32 model with %s (needs the packages openvino and numpy): %v\n%s", python, err, output)
	}
	return target
}

// startTask starts ranking-task with the model and connects to it.
func startTask(t *testing.T, model string) *ipc.Conn {
	t.Helper()
	dir, err := os.MkdirTemp("", "models") // short: a socket path has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s, err := stack.New(stack.Config{Dir: dir, TaskArgs: []string{"--task", "openvino", "--model", model}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.StartTask(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	conn, err := dial(t.Context(), s)
	if err != nil {
		t.Fatalf("%v\n%s", err, s.Task.Log())
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// dial tries until the Task is warm and listens; it gives up when the Task ends or after a minute.
func dial(ctx context.Context, s *stack.Stack) (*ipc.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		conn, err := ipc.Dial(ctx, s.Socket, "models-test/1")
		if err == nil {
			return conn, nil
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-s.Task.Exited():
			return nil, fmt.Errorf("ranking-task ended at start: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func rank(ctx context.Context, conn *ipc.Conn, id, query string, passages []string) (*ipc.Scores, error) {
	return conn.Rank(ctx, &ipc.Rank{ID: id, Query: query, Passages: passages, Truncate: ipc.TruncateEnd})
}

// scoreAll ranks every query, a few at a time, and returns the scores in the order of the queries.
func scoreAll(t *testing.T, conn *ipc.Conn, queries []query) [][]float32 {
	t.Helper()
	scores := make([][]float32, len(queries))
	errs := make([]error, len(queries))
	places := make(chan struct{}, inFlight)
	var group sync.WaitGroup
	for i, q := range queries {
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
			answer, err := rank(t.Context(), conn, fmt.Sprintf("q%d", i), q.text, q.passages)
			if err != nil {
				errs[i] = fmt.Errorf("query %d: %w", i, err)
				return
			}
			scores[i] = answer.Scores
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return scores
}
