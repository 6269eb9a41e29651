//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"trtmc-ranking-proxy/bench/load"
	"trtmc-ranking-proxy/bench/measure"
	"trtmc-ranking-proxy/bench/report"
	"trtmc-ranking-proxy/bench/workloads"
	"trtmc-ranking-proxy/conformance/stack"
)

// offer puts the W3 workload, four passages a request, before s over kept-alive connections.
func offer(t *testing.T, s *stack.Stack, model string, l measure.Load, window time.Duration) report.Result {
	t.Helper()
	endpoint, err := load.NewEndpoint(s.URL, "nim", "", model)
	if err != nil {
		t.Fatal(err)
	}
	w, err := workloads.Load("W3")
	if err != nil {
		t.Fatal(err)
	}
	settings := measure.Settings{WarmUp: 2 * time.Second, Window: window, Timeout: time.Minute}
	result, err := measure.One(t.Context(), measure.Server{Name: model, Endpoint: endpoint}, w, l, settings)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// overload offers three times what can be done, and holds what comes of it to a share of that. The figures are printed; what is asserted
// leaves room for a busy machine.
func overload(t *testing.T, s *stack.Stack, model string, possible float64, queue time.Duration) {
	t.Helper()
	r := offer(t, s, model, measure.Load{Arrivals: "constant", Rate: 3 * possible, Concurrency: 1000}, 8*time.Second)
	t.Logf("%.1f requests/s served of %.1f possible and %.1f offered", r.RequestsPerS, possible, r.Rate)
	t.Logf("served: p50 %.1f ms, p99 %.1f ms, with a full queue of %v", r.Latency.P50, r.Latency.P99, queue)
	if r.Errors() > 0 {
		t.Errorf("%d requests met another fate than being served or refused", r.Errors())
	}
	if r.RequestsPerS < possible/3 { // other work may have come since it was measured
		t.Error("served less than a third of what is possible")
	}
	if allowance := 3 * time.Second; r.Latency.P99 > float64((queue + allowance).Milliseconds()) {
		t.Error("what was accepted waited for longer than the queue is")
	}
	if r.Rejected == nil {
		t.Fatal("nothing was refused")
	}
	t.Logf("refused: %d, p50 %.2f ms, p99 %.2f ms", r.Counts[load.Rejected], r.Rejected.P50, r.Rejected.P99)
	if r.Rejected.P50 > r.Latency.P50 {
		t.Error("a refusal takes longer than an answer")
	}
}

// At three times what the Task can do, it goes on doing nearly all it can, what is accepted waits no longer than the queue is, and who
// cannot be served hears so at once.
func TestOverload(t *testing.T) {
	const call, queue = 20 * time.Millisecond, 10
	s := start(t, nullTask("--null-delay-ms", fmt.Sprint(call.Milliseconds()), "--null-queue", fmt.Sprint(queue)), nil)
	overload(t, s, nullModel, float64(time.Second/call), (queue+1)*call)
}

// The same with a model whose threads take every core.
func TestOverloadOfTheModel(t *testing.T) {
	const model, queue = "minilm-l6-rerank", time.Second
	s := start(t, append(defaultModel(t), "--queue-seconds", fmt.Sprint(queue.Seconds())), nil)
	overload(t, s, model, offer(t, s, model, measure.Closed(8), 4*time.Second).RequestsPerS, queue)
}

// With --background-inference the threads that compute, which are those that use the processor, leave the cores to whoever wants them; the one
// that speaks to the proxy does not.
func TestBackgroundInference(t *testing.T) {
	const streams = 2
	s := start(t, append(defaultModel(t), "--streams", fmt.Sprint(streams), "--background-inference"), nil)
	for range 20 {
		if status, a := rank(t, s.URL, firstRequest); status != 200 {
			t.Fatalf("status %d: %s", status, a.raw)
		}
	}
	threads := threadsOf(t, s.Task.PID())
	slices.SortFunc(threads, func(a, b thread) int { return b.ticks - a.ticks })
	for _, busy := range threads[:streams] {
		if !busy.background {
			t.Errorf("a thread that computes is not in the background: %+v", threads)
		}
	}
	if i := slices.IndexFunc(threads, func(th thread) bool { return th.id == s.Task.PID() }); i < 0 || threads[i].background {
		t.Errorf("the main thread is in the background, or missing: %+v", threads)
	}
}

type thread struct {
	id, ticks  int // ticks: processor time
	background bool
}

func threadsOf(t *testing.T, pid int) []thread {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	var threads []thread
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // ended meanwhile
		}
		_, behindName, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(behindName)
		const utime, stime, policy, idle = 11, 12, 38, "5" // of proc(5), counted from the field behind the name
		th := thread{background: fields[policy] == idle}
		th.id, _ = strconv.Atoi(filepath.Base(filepath.Dir(file)))
		for _, field := range []int{utime, stime} {
			ticks, err := strconv.Atoi(fields[field])
			if err != nil {
				t.Fatal(err)
			}
			th.ticks += ticks
		}
		threads = append(threads, th)
	}
	return threads
}
