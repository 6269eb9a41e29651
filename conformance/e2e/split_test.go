//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"trtmc-ranking-proxy/conformance/stack"
)

// secondTask starts another Task, ended with the test, and returns its socket.
func secondTask(t *testing.T, args []string) (*stack.Process, string) {
	t.Helper()
	other, err := stack.New(stack.Config{Dir: socketDir(t), TaskArgs: args})
	if err != nil {
		t.Fatal(err)
	}
	if err := other.StartTask(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Task.Stop(20 * time.Second) })
	return other.Task, other.Socket
}

// A large request before two Tasks is answered letter by letter as before one, but for its times; also while one of them dies.
func TestALargeRequestIsSplitAcrossTasks(t *testing.T) {
	task, socket := secondTask(t, nullTask())
	s := start(t, nullTask(), []string{"--task-socket", socket, "--timing=false", "--split-passages", "16"})
	alone := start(t, nullTask(), []string{"--timing=false"})
	up := func() bool { return metric(t, s, fmt.Sprintf("ranking_task_up{socket=%q}", socket)) == 1 }
	eventually(t, "the second Task", up)
	var passages []string
	for i := range 200 {
		passages = append(passages, fmt.Sprintf("passage %d of the book about%s ships", i*7919%200, strings.Repeat(" old", i%11)))
	}
	large := body(nullModel, "a book about ships", passages, "END")
	status, want := rank(t, alone.URL, large)
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, want.raw)
	}
	same := func() {
		t.Helper()
		if status, got := rank(t, s.URL, large); status != http.StatusOK || got.raw != want.raw {
			t.Fatalf("status %d:\n%.300s\nwant\n%.300s", status, got.raw, want.raw)
		}
	}
	same()
	if got := metric(t, s, "ranking_proxy_requests_split_total"); got != 1 {
		t.Fatalf("%v requests were split", got)
	}

	tooLong := append([]string(nil), passages...)
	for _, i := range []int{5, 150, 199} {
		tooLong[i] = strings.Repeat("word ", 600)
	}
	refused := body(nullModel, "q", tooLong, "NONE")
	status, one := rank(t, alone.URL, refused)
	if status != http.StatusBadRequest || !strings.Contains(one.Detail, "passage 5 ") || !strings.Contains(one.Detail, "first of 3") {
		t.Fatalf("status %d: %s", status, one.raw)
	}
	if status, both := rank(t, s.URL, refused); status != http.StatusBadRequest || both.Message != one.Message || both.Detail != one.Detail {
		t.Fatalf("status %d: %s, want %s", status, both.raw, one.raw)
	}

	task.Kill()
	same()
}
