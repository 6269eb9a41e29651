//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"trtmc-ranking-proxy/conformance/stack"
)

// Up to an hour to either side, another place every 4 ms, as native/tests/clock does to the Task.
const jump = `
	sec += int64(uint64(mono)>>22*2654435761%7201) - 3600
`

// jumpingProxy builds the proxy with a standard library whose wall clock jumps, and whose monotonic clock goes on as it is. It stays in
// build/, so that the next time takes no longer than any build.
func jumpingProxy(t *testing.T) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	original := filepath.Join(strings.TrimSpace(string(root)), "src/time/time.go")
	source, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	const reading = "sec, nsec, mono := runtimeNow()\n"
	if n := strings.Count(string(source), reading); n != 1 {
		t.Fatalf("%s reads the clock at %d places: this test must learn how", original, n)
	}
	dir := filepath.Join(stack.Root(), "build/e2e-clock")
	edited, overlay, program := filepath.Join(dir, "time.go.edited"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "ranking-proxy")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{original: edited}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, edited, strings.Replace(string(source), reading, reading+jump, 1))
	write(t, overlay, string(replace))
	run(t, "go", "build", "-overlay", overlay, "-o", program, "trtmc-ranking-proxy/proxy/cmd/ranking-proxy")
	return program
}

func jumpingLibrary(t *testing.T) string {
	t.Helper()
	library := filepath.Join(t.TempDir(), "jumping_clock.so")
	run(t, "c++", "-std=c++20", "-shared", "-fPIC", "-o", library, filepath.Join(stack.Root(), "native/tests/clock/jumping_clock.cpp"))
	return library
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, program string, args ...string) {
	t.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
}

// mustJump fails the test unless the times in a log are far apart, as those of a wall clock that jumps are.
func mustJump(t *testing.T, name, log string) {
	t.Helper()
	var first, last time.Time
	for line := range strings.Lines(log) {
		var entry struct {
			Time time.Time `json:"time"`
		}
		if json.Unmarshal([]byte(line), &entry) != nil {
			continue
		}
		if first.IsZero() || entry.Time.Before(first) {
			first = entry.Time
		}
		if entry.Time.After(last) {
			last = entry.Time
		}
	}
	t.Logf("%s: times of day from %v to %v", name, first, last)
	if last.Sub(first) < 30*time.Minute {
		t.Errorf("%s: its wall clock did not jump", name)
	}
}
