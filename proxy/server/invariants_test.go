package server

import (
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/ipc/ipctest"
)

// clocked answers with the times that it really took, most often with scores.
func clocked(r *ipctest.Request) {
	admitted := time.Now()
	time.Sleep(time.Duration(1+rand.IntN(3000)) * time.Microsecond)
	started := time.Now()
	time.Sleep(time.Duration(1+rand.IntN(3000)) * time.Microsecond)
	switch ended, dice := time.Now(), rand.IntN(100); {
	case dice < 8:
		r.Reply(&ipc.Error{ID: r.ID, Code: ipc.CodeServerBusy, Message: "full"})
	case dice < 16:
		r.Reply(&ipc.Error{ID: r.ID, Code: ipc.CodeBackendFailed, Message: "failed"})
	case dice < 24:
		ipctest.Late(r) // only the deadline or the client's leaving ends it
	case dice < 25:
		ipctest.Disconnect(r) // rarely: it ends all that are in flight, before any deadline could
	default:
		s := r.Scores()
		s.QueueUS, s.TokenizeUS = uint64(started.Sub(admitted).Microseconds()), 1
		s.PublicTaskCallWallUS = uint64(ended.Sub(started).Microseconds())
		r.Reply(s)
	}
}

// For every request and every outcome: the Task's parts fit into the ipc round trip, and that into the handler's time.
func TestClocksAreNested(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{Rank: clocked})
	p, read := startRecording(t, task, "--max-in-flight=12", "--log-level=error")
	const clients, each = 16, 40
	header := map[string]string{"X-Request-Timeout-Ms": "25"}
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			for j := range each {
				switch (i + j) % 10 {
				case 0:
					p.do("POST", "/v1/ranking", `{"model":"test-model"}`, header)
				case 1: // leaves at once
					if conn, err := net.Dial("tcp", p.addr); err == nil {
						conn.Write([]byte(strings.Replace(post(goodBody), "Host: x", "Host: x\r\nX-Request-Timeout-Ms: 25", 1)))
						conn.Close()
					}
				default:
					checkServerTiming(t, p.do("POST", "/v1/ranking", goodBody, header))
				}
			}
		})
	}
	wg.Wait()
	p.eventually("the end of all requests", func() bool { return p.Metrics.Connections.Load() <= clients })
	http.DefaultClient.CloseIdleConnections()
	outcomes := make(map[string]int)
	for _, l := range read(clients * each) {
		outcomes[l.Outcome]++
		checkNested(t, l)
	}
	t.Log(outcomes)
	for _, outcome := range []string{"ok", "invalid_request", "server_busy", "backend_failed", "deadline_exceeded"} {
		if outcomes[outcome] == 0 {
			t.Errorf("the load has met no %s", outcome)
		}
	}
}

func checkNested(t *testing.T, l line) {
	t.Helper()
	parts, whole := l.Timing.Queue+l.Timing.Call, l.Timing.Handler
	switch {
	case l.Timing.IPC == nil && parts > 0:
		t.Errorf("Task times without a rank: %+v", l)
	case l.Timing.IPC != nil && (parts > *l.Timing.IPC || *l.Timing.IPC+l.Timing.Decode > whole):
		t.Errorf("not nested: %d in %d in %d: %+v", parts, *l.Timing.IPC, whole, l)
	case l.Outcome == "ok" && (l.Timing.IPC == nil || l.Timing.Call == 0):
		t.Errorf("scored and not timed: %+v", l)
	}
}

// checkServerTiming looks at what a client is told of the same clocks.
func checkServerTiming(t *testing.T, a answer) {
	t.Helper()
	if a.status != 200 {
		return
	}
	times := make(map[string]time.Duration)
	for part := range strings.SplitSeq(a.header.Get("Server-Timing"), ", ") {
		name, ms, _ := strings.Cut(part, ";dur=")
		d, err := time.ParseDuration(ms + "ms")
		if err != nil {
			t.Errorf("Server-Timing: %v", err)
		}
		times[name] = d
	}
	if len(times) != 7 || times["tokenize"] > times["queue"] || times["queue"]+times["model"] > times["ipc"] ||
		times["parse"]+times["ipc"]+times["render"] > times["handler"] {
		t.Errorf("Server-Timing: %v", times)
	}
}
