package server

import (
	"bufio"
	"io"
	"net/http"
	"testing"

	"trtmc-ranking-proxy/ipc/ipctest"
)

// A request whose end is ambiguous is refused once, at once, and nothing behind it is ever answered; what came whole before it is.
func TestAmbiguousFraming(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{})
	p := startProxy(t, task)
	refused := 0
	f := func(head string) {
		t.Helper()
		const smuggled = "GET /v1/health/live HTTP/1.1\r\nHost: x\r\n\r\n"
		before := task.Ranks.Load()
		conn := bufio.NewReader(p.raw(post(goodBody) + "POST /v1/ranking HTTP/1.1\r\nHost: x\r\n" + head + "\r\n\r\n0\r\n\r\n" + smuggled))
		read := func(status int) {
			t.Helper()
			response, err := http.ReadResponse(conn, nil)
			if err != nil || response.StatusCode != status {
				t.Fatalf("%q: got %v, %v", head, response, err)
			}
			io.Copy(io.Discard, response.Body)
		}
		read(200)
		read(400)
		if rest, _ := io.ReadAll(conn); len(rest) > 0 {
			t.Fatalf("%q: answered once more: %q", head, rest)
		}
		if ranks := task.Ranks.Load() - before; ranks != 1 {
			t.Fatalf("%q: %d ranks", head, ranks)
		}
		refused++
	}
	f("Content-Length: 5\r\nTransfer-Encoding: chunked")
	f("Transfer-Encoding: chunked\r\nContent-Length: 5")
	f("Content-Length: 5\r\nContent-Length: 5")
	f("Content-Length: +5")
	f("Content-Length : 5")
	f("X-A: b\r\n Content-Length: 5")
	f("X-A: b\nContent-Length: 5")
	f("X-A: b\rContent-Length: 5")
	f("Transfer-Encoding: chunked\r\n\r\n0;x=y\r\n\r\n0")
	f("Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 5")
	if got := p.metric(`ranking_proxy_rejections_total{kind="invalid_request",reason="ambiguous_framing"}`); got != itoa(refused) {
		t.Fatalf("counter: %q of %d", got, refused)
	}
}
