package disconnect

import (
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"
)

// pair is a watched server connection and its client, over TCP.
func pair(t testing.TB, w *Watcher) (server *Conn, client *net.TCPConn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	dialed, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	server, err = w.Watch(accepted)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close(); dialed.Close() })
	return server, dialed.(*net.TCPConn)
}

func newWatcher(t testing.TB) *Watcher {
	w, err := NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

func wait(t testing.TB, what string, event <-chan struct{}) {
	t.Helper()
	select {
	case <-event:
	case <-time.After(10 * time.Second):
		t.Fatalf("%s: not within 10 s", what)
	}
}

func TestHangUps(t *testing.T) {
	w := newWatcher(t)
	f := func(name string, leave func(*net.TCPConn)) {
		t.Helper()
		server, client := pair(t, w)
		gone := make(chan struct{})
		server.Begin(func() { close(gone) })
		leave(client)
		wait(t, name, gone)
		server.End()
	}
	f("close", func(c *net.TCPConn) { c.Close() })
	f("reset", func(c *net.TCPConn) { c.SetLinger(0); c.Close() })
	f("half-close", func(c *net.TCPConn) { c.CloseWrite() })
	f("close behind unread data", func(c *net.TCPConn) { io.WriteString(c, "pipelined"); c.Close() })
}

func TestAHangUpBeforeTheRequestBegins(t *testing.T) {
	w := newWatcher(t)
	server, client := pair(t, w)
	client.Close()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		var calls int
		server.Begin(func() { calls++ })
		server.End()
		if calls == 1 {
			return
		}
	}
	t.Fatal("not noticed within 10 s")
}

func TestNoCallWithoutAHangUpOrAfterEnd(t *testing.T) {
	w := newWatcher(t)
	server, client := pair(t, w)
	var calls atomic.Int32
	server.Begin(func() { calls.Add(1) })
	io.WriteString(client, "data does not count as leaving")
	io.ReadFull(server, make([]byte, 4))
	server.End()

	// Another connection's hang-up, noticed later, shows that the watcher has been past this one.
	client.Close()
	other, otherClient := pair(t, w)
	gone := make(chan struct{})
	other.Begin(func() { close(gone) })
	otherClient.Close()
	wait(t, "the other", gone)
	if calls.Load() != 0 {
		t.Fatal("cancel was called")
	}
}

func TestManyConnections(t *testing.T) {
	w := newWatcher(t)
	for range 300 {
		server, client := pair(t, w)
		gone := make(chan struct{})
		server.Begin(func() { close(gone) })
		client.Close()
		wait(t, "hang-up", gone)
		server.End()
		server.Close()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.conns) != 0 {
		t.Fatalf("%d connections are still known", len(w.conns))
	}
}

func TestOnlySocketsCanBeWatched(t *testing.T) {
	inner, _ := net.Pipe()
	if _, err := newWatcher(t).Watch(inner); err == nil {
		t.Fatal("watches a pipe")
	}
}
