//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"trtmc-ranking-proxy/conformance/stack"
	"trtmc-ranking-proxy/ipc"
)

// limit sets a resource limit of a running process, and returns what lifts it again.
func limit(t *testing.T, p *stack.Process, resource int, value uint64) (lift func()) {
	t.Helper()
	var before unix.Rlimit
	if err := unix.Prlimit(p.PID(), resource, nil, &before); err != nil {
		t.Fatal(err)
	}
	if err := unix.Prlimit(p.PID(), resource, &unix.Rlimit{Cur: value, Max: before.Max}, nil); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := unix.Prlimit(p.PID(), resource, &before, nil); err != nil {
			t.Fatal(err)
		}
	}
}

func openFiles(t *testing.T, p *stack.Process) uint64 {
	t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.PID()))
	if err != nil {
		t.Fatal(err)
	}
	return uint64(len(entries))
}

// A proxy without descriptors accepts nobody and serves whom it has; it accepts again as soon as it can.
func TestProxyOutOfDescriptors(t *testing.T) {
	s := start(t, nullTask(), nil)
	kept := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	ask := func() int {
		response, err := kept.Get(s.URL + "/v1/health/ready")
		if err != nil {
			return 0
		}
		defer response.Body.Close()
		io.Copy(io.Discard, response.Body)
		return response.StatusCode
	}
	eventually(t, "readiness", func() bool { return ask() == 200 })
	http.DefaultClient.CloseIdleConnections()
	lift := limit(t, s.Proxy, unix.RLIMIT_NOFILE, openFiles(t, s.Proxy)+3)
	for range 50 {
		dial(t, s) // the kernel completes them; the proxy cannot take them all
	}
	eventually(t, "the log line", func() bool { return strings.Contains(s.Proxy.Log(), "cannot accept a connection") })
	if status := ask(); status != 200 {
		t.Errorf("an accepted connection got %d", status)
	}
	lift()
	served(t, s)
}

// A Task without descriptors serves the connections it has, and lets others wait.
func TestTaskOutOfDescriptors(t *testing.T) {
	s := start(t, nullTask(), nil)
	lift := limit(t, s.Task, unix.RLIMIT_NOFILE, openFiles(t, s.Task))
	accepted := 0
	for range 10 {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if conn, err := ipc.Dial(ctx, s.Socket, "e2e/1"); err == nil {
			defer conn.Close()
			accepted++
		}
	}
	if accepted > 3 { // the limit is of the highest number, below which some may be free
		t.Errorf("%d connections accepted without descriptors", accepted)
	}
	served(t, s)
	lift()
	eventually(t, "a new connection", listens(t, s.Socket))
}

// Records that cannot be written are counted and reported; ranking goes on.
func TestDiskFullForRecords(t *testing.T) {
	dir := socketDir(t)
	if err := unix.Mount("none", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("cannot make a small file system, which needs root: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	s := start(t, nullTask(), []string{"--records", filepath.Join(dir, "records.jsonl")})
	eventually(t, "the counter", func() bool { served(t, s); return metric(t, s, "ranking_proxy_records_failed_total") > 0 })
	if !strings.Contains(s.Proxy.Log(), "no space left on device") {
		t.Error("the log does not say why")
	}
	served(t, s)
}

// Memory runs out in the Task, as it reads a request, tokenizes one or works on one: the request that needs it fails with a clear error, or
// is answered from a reserve, and the Task goes on.
func TestTaskOutOfMemory(t *testing.T) {
	f := func(name string, task []string, expected []int, request string, before ...string) {
		t.Run(name, func(t *testing.T) {
			s := start(t, task, []string{"--max-body-bytes", "30000000"})
			small := body("", "q", []string{"p"}, "END")
			ask := func(request string) (int, answer) {
				return rank(t, s.URL, strings.Replace(request, `"model":""`, `"model":null`, 1))
			}
			if status, a := ask(small); status != 200 {
				t.Fatalf("status %d: %s", status, a.raw)
			}
			for _, request := range before {
				ask(request)
			}
			lift := limit(t, s.Task, unix.RLIMIT_DATA, dataBytes(t, s.Task)+4<<20)
			status, a := ask(request)
			t.Logf("status %d: %.300s", status, a.raw)
			if !slices.Contains(expected, status) || status != 200 && (a.Error == "" || a.RequestID == "") {
				t.Errorf("neither a clear error nor an answer")
			}
			lift()
			select {
			case <-s.Task.Exited():
				t.Errorf("the Task has ended: %s", tail(s.Task.Log()))
			default:
			}
			eventually(t, "a ranking as before", func() bool { status, _ := ask(small); return status == 200 })
		})
	}
	f("reading", nullTask(), []int{503}, body("", "q", []string{strings.Repeat("x", 25<<20)}, "END"))

	many := make([]string, 32)
	for i := range many {
		many[i] = fmt.Sprintf("%d %s", i, strings.Repeat("apple ", 300))
	}
	// Texts without white space are tokenized in the largest pieces, of which one takes several times what is left. By then every thread has worked.
	unbroken := []string{strings.Repeat("一", 80<<10), strings.Repeat("二", 80<<10)}
	f("tokenizing", defaultModel(t), []int{200, 503}, body("", "q", unbroken, "END"), slices.Repeat([]string{body("", "q", many, "END")}, 5)...)

	// The same passages have been tokenized before, for requests that one more passage, too long, keeps from the model; what that took is there to
	// be used again, and memory runs out in the batch.
	refused := body("", "q", append(slices.Clone(many), strings.Repeat("apple ", 600)), "NONE")
	f("working", append(defaultModel(t), "--batch-tokens", "16384"), []int{500, 503}, body("", "q", many, "END"), slices.Repeat([]string{refused}, 20)...)
}

// dataBytes are what RLIMIT_DATA bounds. Unlike RLIMIT_AS it leaves out the addresses that malloc keeps for each thread to grow into.
func dataBytes(t *testing.T, p *stack.Process) uint64 {
	t.Helper()
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.PID()))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseUint(strings.Fields(string(statm))[5], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * uint64(os.Getpagesize())
}

// A full queue refuses at once and says when to come back, from the time that what waits will take.
func TestFullQueueTellsWhenToComeBack(t *testing.T) {
	s := start(t, nullTask("--null-delay-ms", "2000", "--null-queue", "4"), nil)
	const requests, places = 20, 1 + 4
	refusals := make(chan int, requests)
	ctx, leave := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	for range requests {
		clients.Go(func() {
			if status, a, err := tryRank(ctx, s.URL, body(nullModel, "q", []string{"p"}, "END")); err == nil && status == 429 {
				seconds, _ := strconv.Atoi(a.header.Get("Retry-After"))
				refusals <- seconds
			}
		})
	}
	longest := 0
	for range requests - places - 1 { // one more may find a place when the first call ends
		longest = max(longest, <-refusals)
	}
	leave()
	clients.Wait()
	if longest < 6 {
		t.Errorf("with four calls of two seconds waiting: come back in %d s", longest)
	}
}

// A client that leaves costs what is being computed at that moment, and no more: a batch on each stream.
func TestWhoLeavesCostsOneBatchMore(t *testing.T) {
	const streams, batchTokens, passages, words = 2, 2048, 500, 100
	s := start(t, append(defaultModel(t), "--streams", fmt.Sprint(streams), "--batch-tokens", fmt.Sprint(batchTokens)), nil)
	conn, err := ipc.Dial(t.Context(), s.Socket, "e2e/1")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	pong := func() *ipc.Pong {
		p, err := conn.Ping(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	texts := make([]string, passages)
	for i := range texts {
		texts[i] = fmt.Sprintf("%d %s", i, strings.Repeat("apple ", words))
	}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	go tryRank(ctx, s.URL, body("minilm-l6-rerank", "winter storage", texts, "END"))
	computed := func(p *ipc.Pong) uint64 { return p.Counters["pairs_total"] }
	start := computed(pong())
	eventually(t, "the first batch", func() bool { return computed(pong()) > start })
	leave()
	dropped := pong()
	eventually(t, "an empty queue", func() bool { dropped = pong(); return dropped.QueuedPairs == 0 })
	last := dropped
	eventually(t, "an idle Task", func() bool { last = pong(); return last.RunningBatches == 0 })
	more, all := computed(last)-computed(dropped), computed(last)-start
	t.Logf("%d of %d pairs computed, %d of them after the client's leave", all, passages, more)
	if most := uint64(streams * batchTokens / words); more > most {
		t.Errorf("%d pairs computed after the queue was dropped, more than the %d of a batch on each stream", more, most)
	}
	if all > passages/2 {
		t.Errorf("%d pairs computed for a client who left at the first batch", all)
	}
}

// A request of 512 long passages does not hold up short ones: they come and go while it runs. How long they take is printed in batches of the
// long one, of which each stream computes one at a time.
func TestShortRequestsPassALongOne(t *testing.T) {
	const streams, passages = 2, 512
	s := start(t, append(defaultModel(t), "--streams", fmt.Sprint(streams)), nil)
	texts := make([]string, passages)
	for i := range texts {
		texts[i] = fmt.Sprintf("%d %s", i, strings.Repeat("apple ", 240))
	}
	short := make([]string, 4)
	for i := range short {
		short[i] = fmt.Sprintf("%d %s", i, strings.Repeat("pear ", 40))
	}
	long := make(chan int, 1)
	go func() {
		status, _ := rank(t, s.URL, body("minilm-l6-rerank", "winter storage", texts, "END"))
		long <- status
	}()
	figure := func(name string) float64 {
		return metric(t, s, fmt.Sprintf("ranking_task_%s{socket=%q}", name, s.Socket))
	}
	eventually(t, "the long request at work", func() bool { return figure("running_batches") > 0 })
	batches, begin := figure("calls_total"), time.Now()
	var took []time.Duration
	for end := 0; end == 0; {
		sent := time.Now()
		if status, a := rank(t, s.URL, body("minilm-l6-rerank", "winter storage", short, "END")); status != 200 {
			t.Fatalf("status %d: %s", status, a.raw)
		}
		select {
		case end = <-long:
			if end != 200 {
				t.Errorf("the long request got %d", end)
			}
		default:
			took = append(took, time.Since(sent))
		}
	}
	if len(took) < 5 {
		t.Fatalf("%d short requests came back before the long one", len(took))
	}
	eventually(t, "the last batch", func() bool { return figure("running_batches") == 0 })
	batch := time.Since(begin).Seconds() * streams / (figure("calls_total") - batches)
	slices.Sort(took)
	for _, percent := range []int{50, 99} {
		t.Logf("p%d of %d short requests: %v, %.1f batches", percent, len(took), took[len(took)*percent/100], took[len(took)*percent/100].Seconds()/batch)
	}
}
