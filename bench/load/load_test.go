package load

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"trtmc-ranking-proxy/bench/workloads"
)

// startServer serves the handler on a Unix socket and returns its endpoint.
func startServer(t *testing.T, handler fasthttp.RequestHandler) Endpoint {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &fasthttp.Server{Handler: handler}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = server.Serve(l) }()
	t.Cleanup(func() { l.Close(); <-ended })
	e, err := NewEndpoint("unix:"+path, "nim", "", "m")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

const twoEntries = `{"rankings":[{"index":1,"logit":0.5},{"index":0,"logit":-1}],"usage":{"prompt_tokens":21,"total_tokens":21}}`

func answerOK(ctx *fasthttp.RequestCtx) { ctx.SetBodyString(twoEntries) }

func twoPassages(t *testing.T, e Endpoint) []Request {
	t.Helper()
	requests, err := e.Prepare(&workloads.Workload{Requests: []workloads.Request{{Query: "q", Passages: []string{"a", "b"}}}})
	if err != nil {
		t.Fatal(err)
	}
	return requests
}

func run(t *testing.T, e Endpoint, p Plan) *Outcome {
	t.Helper()
	p.Target = e.Target
	if p.Requests == nil {
		p.Requests = twoPassages(t, e)
	}
	if p.Timeout == 0 {
		p.Timeout = 30 * time.Second
	}
	o, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestClosedLoopKeepsItsNumberInFlight(t *testing.T) {
	var now, most atomic.Int64
	e := startServer(t, func(ctx *fasthttp.RequestCtx) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(5 * time.Millisecond)
		answerOK(ctx)
	})
	o := run(t, e, Plan{Concurrency: 7, Window: time.Second})
	if most.Load() != 7 {
		t.Errorf("at most %d requests were in flight, want 7", most.Load())
	}
	if o.Counts[OK] == 0 || o.Counts[OK] != int(o.Latency.TotalCount()) || o.Statuses[200] != o.Counts[OK] {
		t.Errorf("counts do not agree: %v, %v, %d latencies", o.Counts, o.Statuses, o.Latency.TotalCount())
	}
	if o.CompletedPassages != 2*o.CompletedOK || o.CompletedTokens != 21*o.CompletedOK {
		t.Errorf("%d requests, %d passages, %d tokens", o.CompletedOK, o.CompletedPassages, o.CompletedTokens)
	}
	if o.Latency.Min() < 5000 {
		t.Errorf("a latency of %d us is below what the server takes", o.Latency.Min())
	}
}

func TestOpenLoopSendsEveryArrival(t *testing.T) {
	var got atomic.Int64
	e := startServer(t, func(ctx *fasthttp.RequestCtx) { got.Add(1); answerOK(ctx) })
	o := run(t, e, Plan{Concurrency: 50, Arrivals: Constant{Rate: 500}, WarmUp: 100 * time.Millisecond, Window: 400 * time.Millisecond})
	// 50 in the warm-up, 200 in the window; exactly, because arrivals do not depend on how fast anything runs.
	if got.Load() != 250 || o.Counts[OK] != 200 {
		t.Errorf("server saw %d, window counted %d; want 250 and 200", got.Load(), o.Counts[OK])
	}
}

// A server that stands still for 300 ms: an open loop must show the waiting of all that should have been sent meanwhile.
func TestStallShowsInOpenLoopLatencies(t *testing.T) {
	f := func(connections int) {
		t.Helper()
		var once sync.Once
		var stall sync.RWMutex
		e := startServer(t, func(ctx *fasthttp.RequestCtx) {
			once.Do(func() {
				stall.Lock()
				time.Sleep(300 * time.Millisecond)
				stall.Unlock()
			})
			stall.RLock()
			defer stall.RUnlock()
			answerOK(ctx)
		})
		o := run(t, e, Plan{Concurrency: connections, Arrivals: Constant{Rate: 1000}, Window: 400 * time.Millisecond})
		if o.Counts[OK] != 400 {
			t.Fatalf("%d connections: counted %v, want 400 ok", connections, o.Counts)
		}
		// About 300 requests were due during the stall, with waits spread over 0 to 300 ms: the median of all 400 lies far above a millisecond.
		if p50 := quantile(o.Latency, 50); p50 < 60*time.Millisecond {
			t.Errorf("%d connections: p50 is %v, the stall is hidden", connections, p50)
		}
	}
	f(1) // even one connection must account for what waits behind it
	f(400)
}

func TestOutcomesAreCountedApart(t *testing.T) {
	var n atomic.Int64
	e := startServer(t, func(ctx *fasthttp.RequestCtx) {
		switch n.Add(1) % 5 {
		case 0:
			ctx.Error("busy", 429)
		case 1:
			ctx.Error("down", 503)
		case 2:
			ctx.Error("bad", 400)
		case 3:
			ctx.SetBodyString(`{"rankings":[{"index":0,"logit":1}]}`)
		default:
			answerOK(ctx)
		}
	})
	o := run(t, e, Plan{Concurrency: 1, Arrivals: Constant{Rate: 1000}, Window: 100 * time.Millisecond})
	for kind, want := range map[Kind]int{OK: 20, Rejected: 40, Failed: 20, WrongAnswer: 20, TimedOut: 0, NoAnswer: 0} {
		if o.Counts[kind] != want {
			t.Errorf("%s: %d, want %d", kind, o.Counts[kind], want)
		}
	}
	if o.FirstBad != "down" || o.Rejected.TotalCount() != 40 || o.Latency.TotalCount() != 20 {
		t.Errorf("first bad %q, %d rejected, %d ok", o.FirstBad, o.Rejected.TotalCount(), o.Latency.TotalCount())
	}
}

func TestTimeOutAndNoServer(t *testing.T) {
	release := make(chan struct{})
	e := startServer(t, func(*fasthttp.RequestCtx) { <-release })
	o := run(t, e, Plan{Concurrency: 2, Window: 500 * time.Millisecond, Timeout: 20 * time.Millisecond})
	close(release)
	if o.Counts[TimedOut] == 0 || o.Counts[OK] != 0 {
		t.Errorf("slow server: %v", o.Counts)
	}
	gone := e
	gone.Address += "-gone"
	o = run(t, gone, Plan{Concurrency: 2, Window: 500 * time.Millisecond, Requests: twoPassages(t, e)})
	if o.Counts[NoAnswer] == 0 || !strings.Contains(o.FirstBad, "connect") {
		t.Errorf("no server: %v, %q", o.Counts, o.FirstBad)
	}
}

func TestGoodputCountsWithinTheObjective(t *testing.T) {
	var n atomic.Int64
	e := startServer(t, func(ctx *fasthttp.RequestCtx) {
		if n.Add(1)%2 == 0 {
			time.Sleep(200 * time.Millisecond)
		}
		answerOK(ctx)
	})
	o := run(t, e, Plan{Concurrency: 1000, Arrivals: Constant{Rate: 100}, Window: time.Second, Objective: 200 * time.Millisecond})
	if o.Counts[OK] != 100 || o.Good > 50 || o.Good == 0 {
		t.Errorf("%d of %v within the objective, want at most the 50 that were not slow", o.Good, o.Counts)
	}
}

func TestAnIdleConnectionThatTheServerClosedIsReplaced(t *testing.T) {
	e := startServer(t, func(ctx *fasthttp.RequestCtx) { answerOK(ctx); ctx.Conn().SetReadDeadline(time.Now()) })
	o := run(t, e, Plan{Concurrency: 1, Arrivals: Constant{Rate: 50}, Window: 200 * time.Millisecond})
	if o.Counts[OK] != 10 {
		t.Errorf("got %v (%s), want 10 ok", o.Counts, o.FirstBad)
	}
}

func TestReplayRepeatsTheWorkload(t *testing.T) {
	requests := []Request{{At: 0}, {At: 10 * time.Millisecond}, {At: 30 * time.Millisecond}}
	r, err := NewReplay(requests, 2)
	if err != nil {
		t.Fatal(err)
	}
	// One round is 30 ms and a mean distance of 10 ms; twice as fast.
	for i, want := range []time.Duration{0, 5, 15, 20, 25, 35, 40} {
		if got := r.At(i); got != want*time.Millisecond {
			t.Errorf("arrival %d at %v, want %v", i, got, want*time.Millisecond)
		}
	}
	if _, err := NewReplay(requests[:1], 1); err == nil {
		t.Error("a workload without arrival times was accepted")
	}
}

func TestPoissonHasItsRateAndSpread(t *testing.T) {
	p := NewPoisson(1000, 7)
	const n = 100_000
	var last time.Duration
	var squares float64
	for i := range n {
		at := p.At(i)
		d := (at - last).Seconds() * 1000 // in mean distances
		squares += d * d
		last = at
	}
	if rate := n / last.Seconds(); rate < 980 || rate > 1020 {
		t.Errorf("rate %.1f, want 1000", rate)
	}
	if mean := squares / n; mean < 1.9 || mean > 2.1 {
		t.Errorf("second moment of the distances %.3f, want 2 as an exponential has", mean)
	}
}
