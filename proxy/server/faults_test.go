package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/ipc/ipctest"
	"trtmc-ranking-proxy/proxy/dialect"
)

// reply reads one response from a raw connection, or from a reader of one for several.
func reply(t testing.TB, conn io.Reader) answer {
	t.Helper()
	buffered, ok := conn.(*bufio.Reader)
	if !ok {
		buffered = bufio.NewReader(conn)
	}
	response, err := http.ReadResponse(buffered, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(body)}
}

func TestParserErrorsAreJSON(t *testing.T) {
	p := startProxy(t, ipctest.Start(t, ipctest.Options{}), "--max-body-bytes=1000", "--max-header-bytes=2048", "--read-timeout=300ms")
	f := func(text string, status int, kind string) {
		t.Helper()
		conn := p.raw(text)
		a := reply(t, conn)
		fields := a.fields(t)
		if a.status != status || fields["error"] != kind || fields["request_id"] != a.header.Get("X-Request-ID") || fields["request_id"] == "" {
			t.Fatalf("%.60q: got %d %v %s", text, a.status, a.header, a.body)
		}
		if n, err := conn.Read(make([]byte, 1)); err == nil {
			t.Fatalf("%.60q: the connection goes on (%d)", text, n)
		}
	}
	f("GARBAGE\r\n\r\n", 400, "invalid_request")
	f("POST /v1/ranking HTTP/1.1\r\nHost: x\r\nContent-Length: abc\r\n\r\n", 400, "invalid_request")
	f("POST /v1/ranking HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n"+strings.Repeat(" ", 5000), 413, "payload_too_large")
	f("POST /v1/ranking HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1388\r\n"+strings.Repeat(" ", 5000)+"\r\n0\r\n\r\n", 413, "payload_too_large")
	f("POST /v1/ranking HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5000\r\n\r\n", 413, "payload_too_large")
	f("GET /v1/models HTTP/1.1\r\nHost: x\r\nX: "+strings.Repeat("y", 4000)+"\r\n\r\n", 431, "headers_too_large")
	f("POST /v1/ranking HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{", 408, "request_timeout")
}

// Most clients read nothing before they have sent everything; a reset would take the answer from them.
func TestARefusedUploadCanStillReadTheRefusal(t *testing.T) {
	p := startProxy(t, ipctest.Start(t, ipctest.Options{}), "--max-body-bytes=1000")
	const size = 8 << 20
	conn := p.raw("POST /v1/ranking HTTP/1.1\r\nHost: x\r\nContent-Length: " + itoa(size) + "\r\n\r\n")
	if _, err := io.WriteString(conn, strings.Repeat(" ", size)); err != nil {
		t.Fatalf("the upload was cut: %v", err)
	}
	if a := reply(t, conn); a.status != 413 {
		t.Fatalf("got %d", a.status)
	}
}

func TestExpectContinueWithinTheLimit(t *testing.T) {
	p := startProxy(t, ipctest.Start(t, ipctest.Options{}))
	conn := p.raw("POST /v1/ranking HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: " + itoa(len(goodBody)) + "\r\n\r\n")
	line, err := bufio.NewReader(io.LimitReader(conn, 25)).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "HTTP/1.1 100 ") {
		t.Fatalf("got %q, %v", line, err)
	}
	io.WriteString(conn, goodBody)
	reply(t, conn).ranking(t)
}

func TestDeadline(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{Rank: ipctest.Silent})
	p := startProxy(t, task)
	a := p.do("POST", "/v1/ranking", goodBody, map[string]string{"X-Request-Timeout-Ms": "30"})
	if a.status != 504 || a.fields(t)["error"] != "deadline_exceeded" {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	p.eventually("cancel", func() bool { return task.Cancels.Load() == 1 })
	task.SetRank(ipctest.Answer)
	p.rank(goodBody).ranking(t)
}

func TestDisconnectCancelsTheRank(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{Rank: ipctest.Silent})
	p := startProxy(t, task)
	f := func(text string) {
		t.Helper()
		ranks, cancels := task.Ranks.Load(), task.Cancels.Load()
		conn := p.raw(text)
		p.eventually("the rank", func() bool { return task.Ranks.Load() == ranks+1 })
		if task.Cancels.Load() != cancels {
			t.Fatal("cancelled although the client is there")
		}
		conn.Close()
		p.eventually("the cancel", func() bool { return task.Cancels.Load() == cancels+1 })
	}
	f(post(goodBody))
	f(post(goodBody) + post(goodBody)) // what is pipelined behind does not hide the hang-up
	p.eventually("the counter", func() bool {
		return p.metric(`ranking_proxy_requests_total{route="/v1/ranking",dialect="nim",outcome="client_closed"}`) >= "2"
	})
	p.eventually("the log line", func() bool { return strings.Contains(p.logs.text(), `"outcome":"client_closed"`) })
	task.SetRank(ipctest.Answer)
	p.rank(goodBody).ranking(t)
}

func TestPipeliningAndKeepAlive(t *testing.T) {
	p := startProxy(t, ipctest.Start(t, ipctest.Options{}))
	conn := bufio.NewReader(p.raw(strings.Repeat(post(goodBody), 5)))
	for range 5 {
		response, err := http.ReadResponse(conn, nil)
		if err != nil || response.StatusCode != 200 {
			t.Fatalf("got %v, %v", response, err)
		}
		io.Copy(io.Discard, response.Body)
	}
}

func TestInFlightLimit(t *testing.T) {
	release := make(chan struct{})
	task := ipctest.Start(t, ipctest.Options{Rank: ipctest.When(release, ipctest.Answer)})
	p := startProxy(t, task, "--max-in-flight=2")
	first, second := p.raw(post(goodBody)), p.raw(post(goodBody))
	p.eventually("two ranks", func() bool { return task.Ranks.Load() == 2 })
	a := p.rank(goodBody)
	if a.status != 429 || a.fields(t)["error"] != "server_busy" || a.header.Get("Retry-After") != "1" {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	if got := p.metric(`ranking_proxy_rejections_total{kind="server_busy",reason="in_flight"}`); got != "1" {
		t.Fatalf("counter: %q", got)
	}
	close(release)
	reply(t, first).ranking(t)
	reply(t, second).ranking(t)
	p.eventually("a free place", func() bool { return p.rank(goodBody).status == 200 })
}

func TestConnectionLimit(t *testing.T) {
	p := startProxy(t, ipctest.Start(t, ipctest.Options{}), "--max-connections=2")
	http.DefaultClient.CloseIdleConnections()
	p.eventually("no connections", func() bool { return p.Metrics.Connections.Load() == 0 })
	first, second := p.raw(post(goodBody)), p.raw(post(goodBody))
	reply(t, first).ranking(t)
	reply(t, second).ranking(t)
	if a := reply(t, p.raw("")); a.status != 503 || a.fields(t)["error"] != "server_busy" {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	first.Close()
	p.eventually("a free place", func() bool { return p.Metrics.Connections.Load() == 1 })
	p.rank(goodBody).ranking(t)
}

func TestTaskDown(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{})
	p := startProxy(t, task)
	task.Stop()
	a := p.rank(goodBody)
	if a.status != 503 || a.fields(t)["error"] != "backend_unavailable" || a.header.Get("Retry-After") == "" {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	if strings.Contains(a.body, task.Address) {
		t.Fatalf("the answer names the socket: %s", a.body)
	}
	p.waitReady(false)
	if a := p.get("/v1/health/live"); a.status != 200 {
		t.Fatalf("liveness: %d", a.status)
	}
	if a := p.rank(`{"model":"test-model","query":{"text":"q"},"passages":[]}`); a.status != 400 {
		t.Fatalf("a bad request is bad also while the Task is down: got %d", a.status)
	}
	if got := p.metric("ranking_proxy_task_up"); got != "0" {
		t.Fatalf("task_up %q", got)
	}
	ipctest.Start(t, ipctest.Options{Address: task.Address})
	p.waitReady(true)
	p.rank(goodBody).ranking(t)
}

func TestTaskNeverThere(t *testing.T) {
	p := startProxyAt(t, "@nobody-listens-here")
	for _, path := range []string{"/v1/health/ready", "/v1/models", "/v1/metadata", "/v1/serving/info"} {
		if a := p.get(path); a.status != 503 || a.fields(t)["error"] != "backend_unavailable" {
			t.Fatalf("%s: got %d %s", path, a.status, a.body)
		}
	}
	if a := p.rank(goodBody); a.status != 503 {
		t.Fatalf("got %d", a.status)
	}
}

func TestDrain(t *testing.T) {
	release := make(chan struct{})
	task := ipctest.Start(t, ipctest.Options{Rank: ipctest.When(release, ipctest.Answer)})
	p := startProxy(t, task, "--drain-delay=300ms")
	idle := p.raw("GET /v1/health/live HTTP/1.1\r\nHost: x\r\n\r\n")
	if a := reply(t, idle); a.status != 200 {
		t.Fatalf("got %d", a.status)
	}
	accepted := p.raw(post(goodBody))
	p.eventually("the rank", func() bool { return task.Ranks.Load() == 1 })

	drained := make(chan error, 1)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	go func() { drained <- p.Drain(ctx) }()
	p.waitReady(false) // while connections are still taken
	if a := p.get("/v1/health/live"); a.status != 200 {
		t.Fatalf("liveness during the delay: %d", a.status)
	}
	if n, err := idle.Read(make([]byte, 1)); err != io.EOF {
		t.Fatalf("the idle connection is not closed: %d, %v", n, err)
	}
	select {
	case err := <-drained:
		t.Fatalf("drained before the accepted request was answered: %v", err)
	default:
	}
	close(release)
	reply(t, accepted).ranking(t)
	if err := <-drained; err != nil {
		t.Fatal(err)
	}
}

// Half a header that never ends is no accepted request.
func TestHalfARequestDoesNotHoldTheExit(t *testing.T) {
	p := startProxy(t, ipctest.Start(t, ipctest.Options{}), "--read-timeout=1h", "--idle-timeout=1h")
	before := p.Metrics.Connections.Load()
	for _, text := range []string{"", "POST /v1/ran", "POST /v1/ranking HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"} {
		p.raw(text)
	}
	p.eventually("the connections", func() bool { return p.Metrics.Connections.Load() == before+3 })
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := p.Drain(ctx); err != nil {
		t.Fatal(err)
	}
}

// panicking is a dialect whose decoder has a bug.
type panicking struct{ dialect.NIM }

func (panicking) Decode([]byte) (dialect.Call, error) { panic("a bug") }

func TestPanic(t *testing.T) {
	p := startProxy(t, ipctest.Start(t, ipctest.Options{}))
	p.routes["/v1/ranking"].dialect = panicking{}
	a := p.rank(goodBody)
	if a.status != 500 || a.fields(t)["error"] != "internal_error" {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	if p.get("/v1/health/live").status != 200 || p.Metrics.InFlight.Load() != 0 {
		t.Fatal("the server did not go on as before")
	}
}

// Large bodies share a bound: what goes beyond is refused as soon as it is announced, and all the room comes back.
func TestBodiesLimit(t *testing.T) {
	const limit = 1 << 20
	task := ipctest.Start(t, ipctest.Options{})
	p := startProxy(t, task, fmt.Sprintf("--max-bodies-bytes=%d", limit))
	holds := func(want int64) {
		t.Helper()
		p.eventually(fmt.Sprintf("%d bytes held", want), func() bool { return p.bodies.Load() == want })
	}
	head := func(length string) string {
		return "POST /v1/ranking HTTP/1.1\r\nHost: x\r\n" + length + "\r\n\r\n"
	}
	fixed := func(length int) string { return head(fmt.Sprintf("Content-Length: %d", length)) }
	padded := func(length int) string { return goodBody + strings.Repeat(" ", length-len(goodBody)) }
	busy := func(conn io.Reader) {
		t.Helper()
		a := reply(t, conn)
		if f := a.fields(t); a.status != 429 || f["error"] != "server_busy" || a.header.Get("Retry-After") == "" {
			t.Fatalf("got %d %s", a.status, a.body)
		}
	}

	alone := p.raw(fixed(3 * limit)) // one of any size has room where there is no other
	holds(3*limit - freeBodyBytes)
	busy(p.raw(fixed(2 * freeBodyBytes)))
	busy(p.raw(fixed(2*freeBodyBytes) + "a part of the body"))
	chunked := p.raw(head("Transfer-Encoding: chunked") + "8000\r\n" + strings.Repeat(" ", 0x8000) + "\r\n100000\r\n")
	busy(chunked)
	pipelined := bufio.NewReader(p.raw(post(goodBody) + post(goodBody) + fixed(limit)))
	reply(t, pipelined).ranking(t)
	reply(t, pipelined).ranking(t)
	busy(pipelined)
	p.rank(padded(freeBodyBytes)).ranking(t)
	alone.Close()
	holds(0)

	conn := p.raw("")
	for range 3 { // on one connection, which holds what its last body takes until that is answered
		io.WriteString(conn, fixed(limit)+padded(limit/2))
		holds(limit - freeBodyBytes)
		io.WriteString(conn, strings.Repeat(" ", limit/2))
		reply(t, conn).ranking(t)
		holds(0)
	}
	ranks := task.Ranks.Load()
	p.raw(post(goodBody) + fixed(limit))
	p.eventually("the end of the small one", func() bool { return task.Ranks.Load() == ranks+1 && p.Metrics.InFlight.Load() == 0 })
	holds(limit - freeBodyBytes) // of the one behind it
	if got := p.metric(`ranking_proxy_rejections_total{kind="server_busy",reason="bodies_bytes"}`); got != "4" {
		t.Fatalf("counter: %q", got)
	}
}

// What the model's own code says may quote a text: it goes to the client, and into no log.
func TestWordsOfTheTaskStayOutOfTheLog(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{})
	p := startProxy(t, task, "--log-level=debug")
	for _, code := range []ipc.Code{ipc.CodeBackendFailed, ipc.CodeBackendUnavailable, ipc.CodeServerBusy, ipc.CodeBackendRejectedRequest} {
		task.SetRank(func(r *ipctest.Request) {
			r.Reply(&ipc.Error{ID: r.ID, Code: code, Message: "cannot score 'a secret'"})
		})
		a := p.rank(goodBody)
		if a.status < 400 || !strings.Contains(a.body, "secret") {
			t.Errorf("%s: the client got %d %s", code, a.status, a.body)
		}
		p.eventually("the log line", func() bool { return strings.Contains(p.logs.text(), a.header.Get("X-Request-Id")) })
	}
	if text := p.logs.text(); strings.Contains(text, "secret") || !strings.Contains(text, `"reason":"task"`) {
		t.Errorf("logged: %s", text)
	}
}
