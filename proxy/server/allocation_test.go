//go:build !race

// The race detector makes sync.Pool forget at random, so allocations are counted in builds without it only.

package server

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/ipc/ipctest"
)

// maxAllocations bounds one ranking of 32 passages from socket to socket: decoding, the rank's frame, its answer, rendering.
const maxAllocations = 15

// serveFixed is a Task that allocates nothing: it gives every rank the same scores, prepared beforehand.
func serveFixed(t testing.TB, listener net.Listener, id string, passages int) {
	welcome := ipctest.DefaultWelcome()
	scores := &ipc.Scores{ID: id, HasTokens: true, QueueUS: 10, PublicTaskCallWallUS: 100, Batches: 1}
	for i := range passages {
		scores.Scores = append(scores.Scores, float32(i*7919%101)/7)
		scores.PairTokens = append(scores.PairTokens, 9)
	}
	answers := map[ipc.Type][]byte{
		ipc.TypeHello: frame(t, 0, &welcome), ipc.TypeRank: frame(t, 1, scores), ipc.TypePing: frame(t, 1, &ipc.Pong{Ready: true}),
	}
	conn, err := listener.Accept()
	if err != nil {
		return
	}
	defer conn.Close()
	buffer := make([]byte, 1<<20)
	for {
		if _, err := io.ReadFull(conn, buffer[:16]); err != nil {
			return
		}
		answer := answers[ipc.Type(buffer[12])]
		if answer == nil {
			continue // a cancel
		}
		copy(answer[4:12], buffer[4:12])
		if _, err := io.ReadFull(conn, buffer[:binary.LittleEndian.Uint32(buffer)]); err != nil {
			return
		}
		conn.Write(answer)
	}
}

func frame(t testing.TB, exchange uint64, m ipc.Message) []byte {
	encoded, err := ipc.AppendFrame(nil, exchange, m)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

// fixedRequest is an HTTP request of n passages of 100 words.
func fixedRequest(id string, n int) []byte {
	text := strings.Repeat("steep the leaves in water below the boil ", 12)
	body := `{"model":"test-model","query":{"text":"how hot should the water be"},"passages":[` +
		strings.TrimSuffix(strings.Repeat(`{"text":"`+text+`"},`, n), ",") + `],"truncate":"END"}`
	return fmt.Appendf(nil, "POST /v1/ranking HTTP/1.1\r\nHost: x\r\nX-Request-ID: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", id, len(body), body)
}

// exchangeFixed is one request and its answer, as a function that allocates nothing itself.
func exchangeFixed(t testing.TB, passages int, flags ...string) func() {
	const id = "fixed"
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go serveFixed(t, listener, id, passages)
	flags = append(flags, "--ping-interval=1h", "--log-level=info", "--log-sample=0", "--stall-timeout=1h")
	p := startProxyAt(t, listener.Addr().String(), flags...)
	p.waitReady(true)
	conn, request, buffer := p.raw(""), fixedRequest(id, passages), make([]byte, 64<<10)
	return func() {
		conn.Write(request)
		n := 0
		for !bytes.HasSuffix(buffer[:n], []byte("}}")) {
			read, err := conn.Read(buffer[n:])
			if n += read; err != nil {
				t.Fatalf("%v after %q", err, buffer[:n])
			}
		}
		if !bytes.HasPrefix(buffer, []byte("HTTP/1.1 200 ")) {
			t.Fatalf("got %q", buffer[:n])
		}
	}
}

func TestAllocations(t *testing.T) {
	f := func(flags ...string) {
		t.Helper()
		got := testing.AllocsPerRun(2000, exchangeFixed(t, 32, flags...))
		t.Logf("%v: %v allocations", flags, got)
		if got > maxAllocations {
			t.Errorf("%v: %v allocations for one request, at most %d", flags, got, maxAllocations)
		}
	}
	f()
	f("--records=" + filepath.Join(t.TempDir(), "records.jsonl"))
}

func BenchmarkRanking(b *testing.B) {
	for _, passages := range []int{4, 32, 512} {
		b.Run(fmt.Sprint(passages), func(b *testing.B) {
			exchange := exchangeFixed(b, passages)
			b.ReportAllocs()
			for b.Loop() {
				exchange()
			}
		})
	}
}
