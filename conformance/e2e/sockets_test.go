//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"trtmc-ranking-proxy/conformance/stack"
)

// ends waits for the end of a process and returns its exit code.
func ends(t *testing.T, p *stack.Process) int {
	t.Helper()
	select {
	case <-p.Exited():
		return p.ExitCode()
	case <-within(t).Done():
		t.Fatalf("%s does not end\n%s", p.Name, p.Log())
		return -1
	}
}

// noSocket is the exit code of a Task that cannot have its socket; see native/README.md.
const noSocket = 4

func served(t *testing.T, s *stack.Stack) {
	t.Helper()
	becomesReady(t, s)
	if status, a := rank(t, s.URL, body(nullModel, "q", []string{"p"}, "END")); status != 200 {
		t.Fatalf("status %d: %s", status, a.raw)
	}
}

// The proxy keeps its connection, and a proxy that comes later finds the socket made anew.
func TestSocketFileRemoved(t *testing.T) {
	s := start(t, nullTask(), nil)
	if err := os.Remove(s.Socket); err != nil {
		t.Fatal(err)
	}
	served(t, s)
	eventually(t, "a new socket file", func() bool { _, err := os.Stat(s.Socket); return err == nil })
	s.Proxy.Stop(20 * time.Second)
	if err := s.StartProxy(); err != nil {
		t.Fatal(err)
	}
	served(t, s)
}

// A socket left by a Task that was killed is taken over; what is no socket is never touched.
func TestSocketFileReplaced(t *testing.T) {
	s := start(t, nullTask(), nil)
	s.Task.Kill()
	if _, err := os.Stat(s.Socket); err != nil {
		t.Fatalf("a killed Task leaves its socket: %v", err)
	}
	restartTask(t, s)
	served(t, s)

	s.Task.Kill()
	os.Remove(s.Socket)
	if err := os.WriteFile(s.Socket, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	restartTask(t, s)
	if code := ends(t, s.Task); code != noSocket {
		t.Errorf("exit code %d", code)
	}
	if content, err := os.ReadFile(s.Socket); err != nil || string(content) != "precious" {
		t.Errorf("the file is %q, %v", content, err)
	}
	becomesNotReady(t, s)
	becomes(t, s, "/v1/health/live", 200)
	os.Remove(s.Socket)
	restartTask(t, s)
	served(t, s)
}

// Two Tasks race for one path: one has it, the other ends and leaves it alone.
func TestSecondTaskAtTheSamePath(t *testing.T) {
	s := start(t, nullTask(), nil)
	second, err := stack.StartProcess(s.Config.Dir, "second", s.Config.TaskProgram, append([]string{"--socket", s.Socket}, nullTask()...)...)
	if err != nil {
		t.Fatal(err)
	}
	if code := ends(t, second); code != noSocket {
		t.Errorf("exit code %d\n%s", code, second.Log())
	}
	served(t, s)
}

// A Task that lets in only another user's proxy.
func TestTaskOfAnotherUser(t *testing.T) {
	s, err := stack.New(stack.Config{Dir: socketDir(t), TaskArgs: nullTask("--peer-uid", "54321")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	restartTask(t, s)
	if err := s.StartProxy(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a refusal in the Task's log", func() bool { return strings.Contains(s.Task.Log(), "its user is not allowed") })
	becomesNotReady(t, s)
	if status, a := rank(t, s.URL, body(nullModel, "q", []string{"p"}, "END")); status != 503 {
		t.Errorf("status %d: %s", status, a.raw)
	}
}

func TestSocketPathOverTheLimit(t *testing.T) {
	long := filepath.Join(socketDir(t), strings.Repeat("x", 120))
	dir := t.TempDir()
	f := func(program string, code int, args ...string) {
		t.Helper()
		p, err := stack.StartProcess(dir, "long", program, args...)
		if err != nil {
			t.Fatal(err)
		}
		if got := ends(t, p); got != code || !strings.Contains(p.Log(), "107") {
			t.Errorf("exit code %d, not %d\n%s", got, code, p.Log())
		}
	}
	s, err := stack.New(stack.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	f(s.Config.TaskProgram, noSocket, append([]string{"--socket", long}, nullTask()...)...)
	f(s.Config.ProxyProgram, 2, "--task-socket", long)
}

func TestAbstractSocket(t *testing.T) {
	s, err := stack.New(stack.Config{Dir: socketDir(t), TaskArgs: nullTask()})
	if err != nil {
		t.Fatal(err)
	}
	s.Socket = "@" + filepath.Base(s.Config.Dir)
	t.Cleanup(s.Stop)
	restartTask(t, s)
	if err := s.StartProxy(); err != nil {
		t.Fatal(err)
	}
	served(t, s)
	s.Task.Kill() // leaves nothing behind that could be in the way
	becomesNotReady(t, s)
	restartTask(t, s)
	served(t, s)
}
