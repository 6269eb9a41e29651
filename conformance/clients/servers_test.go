//go:build clients

package clients

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"trtmc-ranking-proxy/conformance/stack"
	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/ipc/ipctest"
)

const (
	model = "minilm-l6-rerank"
	alias = "garden/mini_lm-v2.1" // litellm turns _ into .
	key   = "a-key-for-tests"
	query = "Why do tomatoes split on the plant?"
)

// passages have the best neither first nor last, and text of several scripts.
var passages = []string{
	"The harbour bridge was painted green in the spring.",
	"Tomato plants like sun and a sheltered spot.",
	"Onions keep for months in a dry, airy shed.",
	"Tomatoes split on the plant when dry soil is suddenly soaked; water a little every day.",
	"Our shop sells bicycle lamps, bells and \"quiet\" tyres\n\tin every size.",
	"Зимой яблоки хранят в прохладном погребе.",
	"トマトの実が割れるのは、水の与えすぎが原因です。 🍅",
}

// refusals are the queries that provoke a status, and what the server says then.
var refusals = map[string]refusal{
	"400": {" \t", "the query is empty"},
	"401": {query, "the API key is not known here"},
	"422": {"provoke a rejection", "this text is not for me"},
	"429": {"provoke a full queue", "too many ahead of you"},
	"503": {query, "not available"},
}

var faults = map[string]ipctest.Handler{
	refusals["422"].Query: ipctest.Refuse(ipc.Error{Code: ipc.CodeBackendRejectedRequest, Message: refusals["422"].Words}),
	refusals["429"].Query: ipctest.Refuse(ipc.Error{Code: ipc.CodeServerBusy, Message: refusals["429"].Words}),
}

// startServers starts the real Task with a proxy, and three proxies before Tasks that give the same scores and fail on request.
func startServers(t *testing.T) *told {
	t.Helper()
	open := newStack(t, "--served-model-name", alias)
	if err := open.StartTask(); err != nil {
		t.Fatal(err)
	}
	startProxy(t, open)
	logits := askTask(t, open.Socket)

	keys := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(keys, []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	faulty, _ := startFaulty(t, logits)
	locked, _ := startFaulty(t, logits, "--api-key-file", keys)
	stopped, task := startFaulty(t, logits)
	task.Stop()
	return &told{
		Model: model, Alias: alias, Query: query, Passages: passages, Logits: logits, Key: key, Refusals: refusals,
		Open: open.URL, Faulty: faulty.URL, Locked: locked.URL, Stopped: stopped.URL,
	}
}

// startFaulty starts a Task that answers with logits or, where the query asks for it, fails, and a proxy before it.
func startFaulty(t *testing.T, logits []float32, proxyArgs ...string) (*stack.Stack, *ipctest.Task) {
	t.Helper()
	s := newStack(t, proxyArgs...)
	options := ipctest.Options{Address: s.Socket, Welcome: ipctest.DefaultWelcome(), Rank: func(r *ipctest.Request) {
		if fail := faults[r.Query]; fail != nil {
			fail(r)
			return
		}
		scores := r.Scores()
		scores.Scores = logits
		r.Reply(scores)
	}}
	options.Welcome.Model = model
	task := ipctest.Start(t, options)
	startProxy(t, s)
	return s, task
}

// newStack is a stack with the real Task, of which nothing is started yet. What is started of it ends with the test.
func newStack(t *testing.T, proxyArgs ...string) *stack.Stack {
	t.Helper()
	dir, err := os.MkdirTemp("", "rk") // t.TempDir is too deep for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s, err := stack.New(stack.Config{
		Dir: dir, ProxyArgs: proxyArgs,
		TaskArgs: []string{"--task", "openvino", "--model", filepath.Join(stack.Root(), "native/models", model)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

func startProxy(t *testing.T, s *stack.Stack) {
	t.Helper()
	if err := s.StartProxy(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.WaitReady(ctx); err != nil {
		t.Fatalf("%v\nproxy log:\n%s", err, s.Proxy.Log())
	}
}

// askTask ranks without a proxy.
func askTask(t *testing.T, socket string) []float32 {
	t.Helper()
	conn, err := ipc.Dial(t.Context(), socket, "clients/1")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	answer, err := conn.Rank(t.Context(), &ipc.Rank{ID: "direct", Query: query, Passages: passages, Truncate: ipc.TruncateNone})
	if err != nil {
		t.Fatal(err)
	}
	return answer.Scores
}
