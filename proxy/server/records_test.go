package server

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/ipc/ipctest"
	"trtmc-ranking-proxy/proxy/dialect"
)

// line is what the tests look at in a record.
type line struct {
	ID      string `json:"request_id"`
	Route   string `json:"route"`
	Dialect string `json:"dialect"`
	Warmup  bool   `json:"warmup"`
	Status  int    `json:"status"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason"`
	Sent    bool   `json:"sent"`
	Timing  struct {
		Handler int64  `json:"handler_us"`
		Decode  int64  `json:"decode_us"`
		IPC     *int64 `json:"ipc_us"`
		Queue   int64  `json:"queue_us"`
		Call    int64  `json:"public_task_call_wall_us"`
	} `json:"timing"`
	Observation *struct {
		Passages int       `json:"passages"`
		Scores   []float32 `json:"scores"`
		Order    []int     `json:"order"`
	} `json:"observation"`
}

// startRecording is startProxy with records, which the returned function reads once n are there.
func startRecording(t *testing.T, task *ipctest.Task, flags ...string) (p *proxy, read func(n int) []line) {
	path := filepath.Join(t.TempDir(), "records.jsonl")
	p = startProxy(t, task, append(flags, "--records="+path)...)
	return p, func(n int) []line {
		t.Helper()
		p.eventually("the records", func() bool { return len(readLines(t, path)) >= n })
		got := readLines(t, path)
		if len(got) != n {
			t.Fatalf("%d records, want %d: %+v", len(got), n, got)
		}
		return got
	}
}

func readLines(t *testing.T, path string) (lines []line) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.Lines(string(content)) {
		if !strings.HasSuffix(text, "\n") {
			break // being written
		}
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		lines = append(lines, l)
	}
	return lines
}

// sometimesPanicking has a bug that one body brings out.
type sometimesPanicking struct{ dialect.NIM }

func (d sometimesPanicking) Decode(body []byte) (dialect.Call, error) {
	if string(body) == "a bug" {
		panic("a bug")
	}
	return d.NIM.Decode(body)
}

// Each request, one after the other, leaves one record with its own id and outcome.
func TestEveryOutcomeLeavesOneRecord(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{})
	p, read := startRecording(t, task, "--max-body-bytes=2000", "--max-header-bytes=2048", "--read-timeout=300ms", "--max-passages=5", "--cors-origin=https://a.example")
	p.routes["/v1/ranking"].dialect = sometimesPanicking{}
	n := 0
	f := func(outcome string, status int, exchange func(id string)) line {
		t.Helper()
		n++
		id := "request-" + itoa(n)
		exchange(id)
		l := read(n)[n-1]
		if l.Outcome != outcome || l.Status != status || (l.ID != id && l.Route != "unknown") || l.Timing.Handler <= 0 && l.Route != "unknown" {
			t.Fatalf("got %+v, want %s %d", l, outcome, status)
		}
		return l
	}
	send := func(method, path, body string) func(string) {
		return func(id string) { p.do(method, path, body, map[string]string{"X-Request-ID": id}) }
	}
	raw := func(text string) func(string) { return func(string) { reply(t, p.raw(text)) } }
	answerWith := func(code ipc.Code) func(string) {
		return func(id string) {
			task.SetRank(ipctest.Refuse(ipc.Error{Code: code, Message: "no"}))
			defer task.SetRank(ipctest.Answer)
			send("POST", "/v1/ranking", goodBody)(id)
		}
	}

	good := f("ok", 200, send("POST", "/v1/ranking", goodBody))
	if good.Dialect != "nim" || good.Route != "/v1/ranking" || !good.Sent || good.Observation.Passages != 3 || len(good.Observation.Scores) != 3 ||
		good.Observation.Scores[1] != ipctest.Score("green tea", "green tea") || good.Observation.Order[0] != 1 || good.Timing.Call != 3 || good.Timing.Queue != 2 {
		t.Fatalf("got %+v %+v", good, good.Observation)
	}
	if l := f("ok", 200, func(id string) {
		p.do("POST", "/v1/ranking", goodBody, map[string]string{"X-Request-ID": id, "X-Warmup": "true"})
	}); !l.Warmup || good.Warmup {
		t.Fatal("warm-up is not told from the rest")
	}
	if l := f("invalid_request", 400, send("POST", "/v1/ranking", "{")); l.Observation != nil || l.Timing.IPC != nil {
		t.Fatalf("got %+v", l)
	}
	f("invalid_request", 400, send("POST", "/v1/ranking", request(6)))
	f("model_not_found", 404, send("POST", "/v1/ranking", strings.Replace(goodBody, "test-model", "other", 1)))
	f("not_found", 404, send("POST", "/v1/nothing", goodBody))
	f("method_not_allowed", 405, send("PUT", "/v1/ranking", goodBody))
	f("unsupported_media_type", 415, func(id string) {
		p.do("POST", "/v1/ranking", goodBody, map[string]string{"X-Request-ID": id, "Content-Type": "text/csv"})
	})
	f("payload_too_large", 413, raw("POST /v1/ranking HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n"+strings.Repeat(" ", 5000)))
	f("payload_too_large", 413, raw("POST /v1/ranking HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5000\r\n\r\n"))
	f("headers_too_large", 431, raw("GET /v1/models HTTP/1.1\r\nHost: x\r\nX: "+strings.Repeat("y", 4000)+"\r\n\r\n"))
	f("invalid_request", 400, raw("GARBAGE\r\n\r\n"))
	f("request_timeout", 408, raw("POST /v1/ranking HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"))
	f("client_closed", 499, func(string) { p.raw("POST /v1/ranking HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{").Close() })
	if l := f("server_busy", 429, answerWith(ipc.CodeServerBusy)); l.Timing.IPC == nil || l.Observation.Scores != nil {
		t.Fatalf("got %+v", l)
	}
	f("backend_rejected_request", 422, answerWith(ipc.CodeBackendRejectedRequest))
	f("backend_failed", 500, answerWith(ipc.CodeBackendFailed))
	f("input_too_long", 400, answerWith(ipc.CodeInputTooLong))
	f("internal_error", 500, func(id string) {
		send("POST", "/v1/ranking", "a bug")(id)
	})
	task.SetRank(ipctest.Silent)
	f("deadline_exceeded", 504, func(id string) {
		p.do("POST", "/v1/ranking", goodBody, map[string]string{"X-Request-ID": id, "X-Request-Timeout-Ms": "20"})
	})
	f("client_closed", 499, func(id string) {
		ranks := task.Ranks.Load()
		conn := p.raw(strings.Replace(post(goodBody), "Host: x", "Host: x\r\nX-Request-ID: "+id, 1))
		p.eventually("the rank", func() bool { return task.Ranks.Load() == ranks+1 })
		conn.Close()
	})
	task.Stop()
	f("backend_unavailable", 503, send("POST", "/v1/ranking", goodBody))
	p.get("/v1/health/ready")
	p.get("/metrics")
	p.get("/v1/models")
	p.do("OPTIONS", "/v1/ranking", "", map[string]string{"Origin": "https://a.example", "Access-Control-Request-Method": "POST"})
	read(n) // and nothing for probes, scrapes, discovery and preflights
	if written := p.metric("ranking_proxy_records_written_total"); written != itoa(n) {
		t.Fatalf("counted %s of %d", written, n)
	}
}

func TestPipelinedRequestsLeaveTheirRecords(t *testing.T) {
	p, read := startRecording(t, ipctest.Start(t, ipctest.Options{}))
	conn := p.raw(strings.Repeat(post(goodBody), 5))
	for _, l := range read(5) {
		if l.Outcome != "ok" || !l.Sent {
			t.Fatalf("got %+v", l)
		}
	}
	conn.Close()
}

// The handler's clock goes on until the client has taken the last byte off our hands.
func TestHandlerTimeIncludesTheWrite(t *testing.T) {
	const pause = 300 * time.Millisecond
	x := &exchange{start: time.Now().Add(-pause)}
	var a answers
	a.add(x)
	if first, _, _ := a.take(false); first != nil {
		t.Fatal("settled before any write")
	}
	a.written(nil)
	first, at, sent := a.take(false)
	if first != x || !sent || at.Sub(x.start) < pause {
		t.Fatalf("got %p, %v, %v", first, at, sent)
	}
	a.add(x)
	a.written(os.ErrClosed)
	if _, _, sent := a.take(true); sent {
		t.Fatal("a failed write counts as sent")
	}
	a.add(x)
	if first, _, sent := a.take(true); first != x || sent {
		t.Fatal("an answer that was never written counts as sent")
	}
}
