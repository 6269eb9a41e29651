//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"trtmc-ranking-proxy/conformance/stack"
	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/ipc/ipctest"
)

const rogueModel = "test-model"

// proxyAlone starts the real proxy, whose Task is the test's business.
func proxyAlone(t *testing.T) *stack.Stack {
	t.Helper()
	s, err := stack.New(stack.Config{Dir: socketDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	if err := s.StartProxy(); err != nil {
		t.Fatal(err)
	}
	becomes(t, s, "/v1/health/live", 200)
	return s
}

// A Task that breaks the protocol in every way costs the requests that are in flight, never a wrong answer, and the next one succeeds.
func TestRogueTask(t *testing.T) {
	s := proxyAlone(t)
	var wrong atomic.Pointer[ipctest.Handler]
	task := ipctest.Start(t, ipctest.Options{Address: s.Socket, Rank: func(r *ipctest.Request) {
		if r.Query == "rogue" {
			(*wrong.Load())(r)
			return
		}
		ipctest.Answer(r)
	}})
	becomesReady(t, s)
	stop := honest(t, s)
	f := func(name string, handler ipctest.Handler, deadlineMS int, allowed ...int) {
		t.Helper()
		wrong.Store(&handler)
		status, a := send(t.Context(), s.URL, "rogue", body(rogueModel, "rogue", []string{"p", "q"}, "END"), deadlineMS)
		if !slices.Contains(allowed, status) || status != http.StatusOK && a.Error == "" {
			t.Errorf("%s: status %d: %+v", name, status, a)
		}
		if status, a := askHonestly(t.Context(), s, name); status != http.StatusOK {
			t.Errorf("after %s: status %d: %+v", name, status, a)
		}
	}
	for range 5 {
		f("an answer after the cancel", ipctest.Late, 50, 504)
		f("no answer", ipctest.Silent, 50, 504)
		f("two answers", ipctest.Twice, 0, 200)
		f("an answer to a request that is none", ipctest.Misaddressed, 0, 503)
		f("the id of another request", ipctest.Foreign, 0, 500, 503)
		f("a score too few", ipctest.Short, 0, 500, 503)
		f("a score that is no number", ipctest.NaN, 0, 500, 503)
		f("no connection", ipctest.Disconnect, 0, 503)
	}
	// Headers, keys and values of the answer, which is longer. 500 where other answers follow the cut before the connection ends.
	for n := range 60 {
		f(fmt.Sprintf("a frame cut after %d bytes", n), ipctest.Cut(n), 0, 500, 503)
	}
	task.Goaway()
	stop()
}

// A Task of another protocol is not served, and one that speaks ours is as soon as it comes.
func TestTaskOfAnotherProtocol(t *testing.T) {
	s := proxyAlone(t)
	greeted := make(chan struct{}, 1000)
	other := ipctest.Start(t, ipctest.Options{Address: s.Socket, Greet: func(session *ipctest.Session, _ *ipc.Hello) {
		session.Send(0, &ipc.Error{Code: ipc.CodeProtocolError, Message: "this Task speaks version 2"})
		session.Close()
		greeted <- struct{}{}
	}})
	<-greeted
	<-greeted
	becomesNotReady(t, s)
	becomes(t, s, "/v1/health/live", 200)
	if status, a := rank(t, s.URL, body(rogueModel, "q", []string{"p"}, "END")); status != 503 || a.Error != "backend_unavailable" {
		t.Errorf("status %d: %s", status, a.raw)
	}
	other.Stop()
	ipctest.Start(t, ipctest.Options{Address: s.Socket})
	becomesReady(t, s)
	if status, a := askHonestly(t.Context(), s, "ours"); status != http.StatusOK {
		t.Errorf("status %d: %+v", status, a)
	}
}

// askHonestly asks what the Task answers rightly. A wrong answer is status 0.
func askHonestly(ctx context.Context, s *stack.Stack, query string) (int, answer) {
	passages := []string{"nothing of it", query + " and more", query}
	status, a := send(ctx, s.URL, "honest", body(rogueModel, query, passages, "END"), 0)
	if status == http.StatusOK {
		for _, r := range a.Rankings {
			if r.Logit != ipctest.Score(query, passages[r.Index]) {
				return 0, a
			}
		}
	}
	return status, a
}

// honest lets four clients ask all the while. stop fails the test if one got a wrong answer or met another fate than success or an error of the Task's.
func honest(t *testing.T, s *stack.Stack) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	var served, unavailable atomic.Int64
	for client := range 4 {
		clients.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				switch status, a := askHonestly(t.Context(), s, fmt.Sprintf("client%d query%d", client, i)); status {
				case http.StatusOK:
					served.Add(1)
				case http.StatusServiceUnavailable, http.StatusInternalServerError: // 500: the test Task says cancelled as its connection ends
					unavailable.Add(1)
				default:
					t.Errorf("an honest request: status %d: %+v", status, a)
				}
			}
		})
	}
	return func() {
		cancel()
		clients.Wait()
		t.Logf("%d honest requests served, %d unavailable", served.Load(), unavailable.Load())
		if served.Load() == 0 {
			t.Error("nobody was served")
		}
	}
}
