//go:build e2e

package e2e

import (
	"context"
	"net/http"
	"syscall"
	"testing"
	"time"

	"trtmc-ranking-proxy/conformance/stack"
)

// Readiness is promised to follow within a second; the rest is for a machine whose cores are taken by other tests.
const readinessPromised, readinessAllowance = time.Second, 2 * time.Second

// Readiness follows what happens to the Task, in both directions, and liveness does not move.
func TestReadinessFollowsReality(t *testing.T) {
	s := start(t, nullTask(), nil)
	lives := livesOn(t, s)
	f := func(event string, do func(), status int) {
		t.Helper()
		time.Sleep(200 * time.Millisecond) // to meet the pings at another moment each time
		do()
		happened := time.Now()
		becomes(t, s, "/v1/health/ready", status)
		took := time.Since(happened)
		t.Logf("%-22s %d after %v", event, status, took.Round(time.Millisecond))
		if took > readinessPromised+readinessAllowance {
			t.Errorf("%s: too late", event)
		}
	}
	task := func(signal syscall.Signal) func() { return func() { _ = s.Task.Signal(signal) } }
	starts := func() {
		restartTask(t, s)
		eventually(t, "the new Task", listens(t, s.Socket))
	}
	for range 3 {
		f("killed", func() { s.Task.Kill() }, http.StatusServiceUnavailable)
		f("started", starts, http.StatusOK)
		f("stopped", task(syscall.SIGSTOP), http.StatusServiceUnavailable)
		f("continued", task(syscall.SIGCONT), http.StatusOK)
		f("told to end", task(syscall.SIGTERM), http.StatusServiceUnavailable)
		<-s.Task.Exited()
		f("started", starts, http.StatusOK)
	}
	lives()
}

// livesOn asks for liveness all the while until the returned function is called, which fails the test if it was ever denied.
func livesOn(t *testing.T, s *stack.Stack) (check func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	asked, denied, ended := 0, 0, make(chan struct{})
	go func() {
		defer close(ended)
		for ; ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
			response, err := http.Get(s.URL + "/v1/health/live")
			asked++
			if err != nil {
				denied++
				continue
			}
			response.Body.Close()
			if response.StatusCode != http.StatusOK {
				denied++
			}
		}
	}()
	return func() {
		cancel()
		<-ended
		if asked == 0 || denied > 0 {
			t.Errorf("liveness was denied %d times of %d", denied, asked)
		}
	}
}
