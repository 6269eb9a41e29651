//go:build clients

// Package clients runs the ranking clients that people use, unchanged and at pinned versions, each in a virtual environment of its own,
// against the real proxy and the real Task. Build those first (make test-clients does).
package clients

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"trtmc-ranking-proxy/conformance/stack"
)

// told is what expect.py reads.
type told struct {
	Model    string    `json:"model"`
	Alias    string    `json:"alias"`
	Query    string    `json:"query"`
	Passages []string  `json:"passages"`
	Logits   []float32 `json:"logits"`

	Open    string `json:"open"`
	Faulty  string `json:"faulty"`
	Locked  string `json:"locked"`
	Stopped string `json:"stopped"`

	Key      string             `json:"key"`
	Refusals map[string]refusal `json:"refusals"`
}

type refusal struct {
	Query string `json:"query"`
	Words string `json:"words"`
}

// Each client puts the best passage first, points into its caller's list, has the scores of the Task, and raises its own errors.
func TestClients(t *testing.T) {
	told := startServers(t)
	f := func(name string) {
		t.Run(name, func(t *testing.T) {
			python := filepath.Join(install(t, name), "bin/python")
			if out, err := check(t, python, name, told); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		})
	}
	f("langchain-nvidia")
	f("litellm")
	f("cohere")
	f("llama-index-nvidia")
	f("nvidia-haystack")
	f("llama-index-tei")
	f("haystack-tei")
	f("langchain-jina")
}

// The checks notice when a client's scores are not the Task's, and when no error comes.
func TestChecksNotice(t *testing.T) {
	right := startServers(t)
	python := filepath.Join(install(t, "cohere"), "bin/python")
	f := func(complaint string, change func(*told)) {
		t.Helper()
		wrong := *right
		change(&wrong)
		out, err := check(t, python, "cohere", &wrong)
		if err == nil || !strings.Contains(out, complaint) {
			t.Errorf("got %v, want %q:\n%s", err, complaint, out)
		}
	}
	f("passage 0", func(w *told) { w.Logits = append([]float32{w.Logits[0] + 1e-5}, w.Logits[1:]...) })
	f("want [", func(w *told) { w.Logits = append([]float32{20}, w.Logits[1:]...) })
	f("no failure", func(w *told) { w.Locked = w.Open })
	f("503 came as", func(w *told) { w.Stopped = w.Locked + "/nowhere" })
	f("does not show", func(w *told) { w.Refusals = map[string]refusal{"400": {" ", "it is a full moon"}} })
}

// install makes the client's environment, where there is none yet, and returns its directory.
func install(t *testing.T, name string) string {
	t.Helper()
	venv := filepath.Join(stack.Root(), "build/clients", name)
	begin := time.Now()
	if out, err := exec.CommandContext(t.Context(), "./setup.sh", name, venv).CombinedOutput(); err != nil {
		t.Fatalf("install: %v\n%s", err, out)
	}
	t.Logf("installed in %v", time.Since(begin).Round(time.Second))
	return venv
}

// check runs the check of a client and returns what it prints.
func check(t *testing.T, python, name string, told *told) (string, error) {
	t.Helper()
	input, err := json.Marshal(told)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), python, "check_"+strings.ReplaceAll(name, "-", "_")+".py")
	command.Stdin = bytes.NewReader(input)
	command.Env = environment(t)
	out, err := command.CombinedOutput()
	return string(out), err
}

// environment keeps the clients from what they would otherwise find or call: keys, proxies, caches, telemetry, price lists.
func environment(t *testing.T) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "NO_PROXY=*", "PYTHONDONTWRITEBYTECODE=1",
		"HAYSTACK_TELEMETRY_ENABLED=False", "LITELLM_LOCAL_MODEL_COST_MAP=True",
	}
}
