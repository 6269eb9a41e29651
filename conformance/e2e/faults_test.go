//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"trtmc-ranking-proxy/conformance/stack"
	"trtmc-ranking-proxy/conformance/traffic"
	"trtmc-ranking-proxy/ipc"
)

// nullModel is the model that the null Task serves unless told otherwise.
const nullModel = "null"

func nullTask(flags ...string) []string { return append([]string{"--task", "null"}, flags...) }

// within is long enough for whatever must happen soon, on the busiest machine.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// becomes waits for a status of a page.
func becomes(t *testing.T, s *stack.Stack, path string, status int) {
	t.Helper()
	if err := s.WaitStatus(within(t), path, status); err != nil {
		t.Fatal(err)
	}
}

func becomesReady(t *testing.T, s *stack.Stack) { t.Helper(); becomes(t, s, "/v1/health/ready", 200) }
func becomesNotReady(t *testing.T, s *stack.Stack) {
	t.Helper()
	becomes(t, s, "/v1/health/ready", 503)
}

// eventually polls until holds, and fails the test if it never does.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for ctx := within(t); !holds(); time.Sleep(10 * time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatalf("%s: not within 30 s", what)
		}
	}
}

func restartTask(t *testing.T, s *stack.Stack) {
	t.Helper()
	if err := s.StartTask(); err != nil {
		t.Fatal(err)
	}
}

// listens tells whether a Task accepts connections at the socket.
func listens(t *testing.T, socket string) func() bool {
	return func() bool {
		conn, err := ipc.Dial(t.Context(), socket, "e2e/1")
		if err == nil {
			conn.Close()
		}
		return err == nil
	}
}

// crowd asks the null Task behind s until stop is called, which returns what became of the requests.
func crowd(t *testing.T, s *stack.Stack, clients int) (stop func() *traffic.Tally) {
	t.Helper()
	c := &traffic.Crowd{URL: s.URL, Model: nullModel, Source: traffic.Null(6), Clients: clients, Seed: 1, Pause: 20 * time.Millisecond}
	ctx, cancel := context.WithCancel(t.Context())
	tally, ended := new(traffic.Tally), make(chan struct{})
	go func() { defer close(ended); c.Run(ctx, tally) }()
	return func() *traffic.Tally { cancel(); <-ended; return tally }
}

// onlyThese fails the test if an answer was wrong or a request met a fate that is not among those allowed.
func onlyThese(t *testing.T, tally *traffic.Tally, allowed ...int) {
	t.Helper()
	for _, wrong := range tally.Wrong() {
		t.Error(wrong)
	}
	for fate, n := range tally.Count() {
		if !slices.Contains(allowed, fate) {
			t.Errorf("%d requests met %d", n, fate)
		}
	}
	t.Log(tally.Count())
}

func TestTaskKilledUnderLoad(t *testing.T) {
	s := start(t, nullTask("--null-delay-ms", "3"), nil)
	stop := crowd(t, s, 8)
	for range 4 {
		time.Sleep(300 * time.Millisecond)
		s.Task.Kill()
		becomesNotReady(t, s)
		becomes(t, s, "/v1/health/live", 200)
		restartTask(t, s)
		becomesReady(t, s)
	}
	tally := stop()
	onlyThese(t, tally, 200, 503)
	if count := tally.Count(); count[200] == 0 || count[503] == 0 {
		t.Errorf("the fault was not met: %v", count)
	}
}

// The proxy may know nothing yet of the new Task, and holds a dead connection to the old one.
func TestFirstRequestAfterARestartOfTheTask(t *testing.T) {
	s := start(t, nullTask(), []string{"--ping-interval", "10s"})
	for range 5 {
		s.Task.Kill()
		restartTask(t, s)
		eventually(t, "the new Task", listens(t, s.Socket))
		time.Sleep(100 * time.Millisecond) // a failed attempt to connect stands for 50 ms
		if status, a := rank(t, s.URL, body(nullModel, "q", []string{"p"}, "END")); status != 200 {
			t.Fatalf("status %d: %s", status, a.raw)
		}
	}
}

func TestTaskStoppedForAWhile(t *testing.T) {
	s := start(t, nullTask(), nil)
	_ = s.Task.Signal(syscall.SIGSTOP)
	answered := make(chan int, 1)
	go func() { status, _ := rank(t, s.URL, body(nullModel, "q", []string{"p"}, "END")); answered <- status }()
	becomesNotReady(t, s)
	_ = s.Task.Signal(syscall.SIGCONT)
	if status := <-answered; status != 200 && status != 503 { // 503 if the stop was longer than --mute-timeout before the request came
		t.Errorf("status %d", status)
	}
	becomesReady(t, s)
	if status, a := rank(t, s.URL, body(nullModel, "q", []string{"p"}, "END")); status != 200 {
		t.Errorf("status %d: %s", status, a.raw)
	}
}

func TestTaskStoppedForGood(t *testing.T) {
	s := start(t, nullTask(), []string{"--stall-timeout", "2s", "--mute-timeout", "1s"})
	_ = s.Task.Signal(syscall.SIGSTOP)
	stop := crowd(t, s, 4)
	becomesNotReady(t, s)
	eventually(t, "the end of the mute connection", func() bool {
		status, a := rank(t, s.URL, body(nullModel, "q", []string{"p"}, "END"))
		return status == 503 && a.Error == "backend_unavailable"
	})
	onlyThese(t, stop(), 503)
	becomes(t, s, "/v1/health/live", 200)
	s.Task.Kill()
	restartTask(t, s)
	becomesReady(t, s)
}

func TestTaskComesBackWithAnotherModel(t *testing.T) {
	s := start(t, nullTask(), nil)
	s.Task.Stop(20 * time.Second)
	s.Config.TaskArgs = nullTask("--null-model", "other")
	restartTask(t, s)
	becomesReady(t, s)
	if status, a := rank(t, s.URL, body(nullModel, "q", []string{"p"}, "END")); status != 404 || a.Error != "model_not_found" {
		t.Errorf("the model that has gone: status %d: %s", status, a.raw)
	}
	if status, a := rank(t, s.URL, body("other", "q", []string{"p"}, "END")); status != 200 {
		t.Errorf("the model that has come: status %d: %s", status, a.raw)
	}
}

func TestTaskThatIsLate(t *testing.T) {
	s, err := stack.New(stack.Config{Dir: socketDir(t), TaskArgs: nullTask()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	if err := s.StartProxy(); err != nil {
		t.Fatal(err)
	}
	becomes(t, s, "/v1/health/live", 200)
	becomesNotReady(t, s)
	if status, a := rank(t, s.URL, body(nullModel, "q", []string{"p"}, "END")); status != 503 || a.header.Get("Retry-After") == "" {
		t.Errorf("status %d: %s", status, a.raw)
	}
	restartTask(t, s)
	becomesReady(t, s)
}

// A Task that takes its time to load is waited for: nobody is sent to it before it is warm, and then the first request succeeds.
func TestTaskSlowToLoad(t *testing.T) {
	s, err := stack.New(stack.Config{Dir: socketDir(t), TaskArgs: defaultModel(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	if err := s.StartProxy(); err != nil {
		t.Fatal(err)
	}
	becomes(t, s, "/v1/health/live", 200)
	lives := livesOn(t, s)
	restartTask(t, s)
	_ = s.Task.Signal(syscall.SIGSTOP) // somewhere in its loading, for longer than any ping may take
	for range 20 {
		if status, a := rank(t, s.URL, firstRequest); status != 503 || a.header.Get("Retry-After") == "" {
			t.Fatalf("status %d: %s", status, a.raw)
		}
		time.Sleep(50 * time.Millisecond)
	}
	_ = s.Task.Signal(syscall.SIGCONT)
	becomesReady(t, s)
	if status, a := rank(t, s.URL, firstRequest); status != 200 {
		t.Errorf("status %d: %s", status, a.raw)
	}
	lives()
}

// Whoever was accepted is answered, in whichever order the two are told to end.
func TestSigtermUnderLoad(t *testing.T) {
	f := func(name string, first func(*stack.Stack) *stack.Process) {
		t.Run(name, func(t *testing.T) {
			s := start(t, nullTask("--null-delay-ms", "20"), []string{"--drain-delay", "500ms"})
			dial(t, s) // a connection that has nothing to say must not hold the exit
			const requests = 40
			statuses := make(chan int, requests)
			var wg sync.WaitGroup
			for i := range requests {
				wg.Go(func() {
					status, _ := rank(t, s.URL, body(nullModel, fmt.Sprint(i), []string{"p", "q"}, "END"))
					statuses <- status
				})
			}
			eventually(t, "all requests in flight", func() bool { return metric(t, s, "ranking_proxy_requests_in_flight") >= requests-5 })
			process := first(s)
			_ = process.Signal(syscall.SIGTERM)
			becomesNotReady(t, s)
			wg.Wait()
			close(statuses)
			for status := range statuses {
				if status != http.StatusOK {
					t.Errorf("an accepted request got %d", status)
				}
			}
			select {
			case <-process.Exited():
				if code := process.ExitCode(); code != 0 {
					t.Errorf("exit code %d", code)
				}
			case <-within(t).Done():
				t.Error("does not end")
			}
		})
	}
	f("proxy first", func(s *stack.Stack) *stack.Process { return s.Proxy })
	f("Task first", func(s *stack.Stack) *stack.Process { return s.Task })
}

func TestProxyKilledUnderLoad(t *testing.T) {
	s := start(t, nullTask("--null-delay-ms", "3"), nil)
	stop := crowd(t, s, 8)
	for range 3 {
		time.Sleep(300 * time.Millisecond)
		s.Proxy.Kill()
		if err := s.StartProxy(); err != nil {
			t.Fatal(err)
		}
		becomesReady(t, s)
	}
	tally := stop()
	onlyThese(t, tally, 200, 503, traffic.Unanswered)
	conn, err := ipc.Dial(t.Context(), s.Socket, "e2e/1")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	eventually(t, "an idle Task: nothing of the dead proxies is left in it", func() bool {
		pong, err := conn.Ping(t.Context())
		return err == nil && pong.QueuedRequests == 0 && pong.RunningBatches == 0
	})
}
