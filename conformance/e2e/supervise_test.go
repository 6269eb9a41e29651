//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"trtmc-ranking-proxy/conformance/stack"
)

// --supervise starts the Task, starts it again, shows what to try, and leaves nothing behind.
func TestSupervise(t *testing.T) { supervise(t) }

func supervise(t *testing.T) {
	t.Helper()
	dir := socketDir(t)
	s, err := stack.New(stack.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	s.Config.ProxyArgs = append([]string{"--supervise", "--", s.Config.TaskProgram, "--socket", filepath.Join(dir, "task.sock")}, nullTask()...)
	if err := s.StartProxy(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	served(t, s)
	eventually(t, "the line to try", func() bool {
		return strings.Contains(s.Proxy.Log(), "curl -s "+s.URL+`/v1/ranking -d '{"model":"null"`)
	})
	task := child(t, s.Proxy)
	unix.Kill(task, unix.SIGKILL)
	eventually(t, "another Task", func() bool { other := child(t, s.Proxy); return other != 0 && other != task })
	served(t, s)
	task = child(t, s.Proxy)
	if !s.Proxy.Stop(20*time.Second) || s.Proxy.ExitCode() != 0 {
		t.Errorf("exit code %d\n%s", s.Proxy.ExitCode(), tail(s.Proxy.Log()))
	}
	if runs(task) {
		t.Error("the Task outlives the proxy that was stopped")
	}
	if err := s.StartProxy(); err != nil {
		t.Fatal(err)
	}
	served(t, s)
	task = child(t, s.Proxy)
	s.Proxy.Kill()
	eventually(t, "the end of the Task whose proxy was killed", func() bool { return !runs(task) })
}

// runs tells whether a process is there and not only waits to be buried.
func runs(pid int) bool {
	_, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return err == nil
}

// A Task that ends at once leaves the proxy alive, not ready, and trying.
func TestSupervisedTaskThatCannotStart(t *testing.T) {
	s, err := stack.New(stack.Config{Dir: socketDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	s.Config.ProxyArgs = []string{"--supervise", "--", s.Config.TaskProgram, "--socket", s.Socket, "--task", "openvino", "--model", "/no/such/model"}
	if err := s.StartProxy(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	eventually(t, "three starts", func() bool { return metric(t, s, "ranking_proxy_task_starts_total") >= 3 })
	becomesNotReady(t, s)
	becomes(t, s, "/v1/health/live", 200)
	if !strings.Contains(s.Proxy.Log(), "/no/such/model") {
		t.Error("the Task's own words are not in the log")
	}
}

// child is the process id of a child, 0 if there is none now.
func child(t *testing.T, p *stack.Process) int {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.PID()))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range tasks {
		content, _ := os.ReadFile(file)
		if fields := strings.Fields(string(content)); len(fields) > 0 {
			id, _ := strconv.Atoi(fields[0])
			return id
		}
	}
	return 0
}
