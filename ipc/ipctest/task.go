// Package ipctest is a Task for tests: an in-process ipc server that answers as told, rightly or wrongly.
//
//	task := ipctest.Start(t, ipctest.Options{Rank: ipctest.After(time.Second, ipctest.Answer)})
//	conn, err := ipc.Dial(ctx, task.Address, "test")
package ipctest

import (
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"trtmc-ranking-proxy/ipc"
)

// Options say how a Task behaves. The zero value is a Task that works.
type Options struct {
	Address string                     // socket path; empty: a new one
	Welcome ipc.Welcome                // zero: DefaultWelcome
	Greet   func(*Session, *ipc.Hello) // nil: sends Welcome
	Rank    Handler                    // nil: Answer
	Ping    func() ipc.Message         // nil: a ready Pong; an answer of nil: none is sent
}

// DefaultWelcome is the identity of a Task that was not given another.
func DefaultWelcome() ipc.Welcome {
	return ipc.Welcome{
		Protocol:    ipc.ProtocolVersion,
		Server:      "ipctest 1.0",
		Task:        "text_query_documents_to_relevance",
		TaskVersion: "1.0",
		Model:       "test-model",
		Family:      "words",
		Backend:     "ipctest",
		Precision:   "f32",
		ScoreKind:   ipc.ScoreLogit,
		MaxTokens:   512,
		MaxPassages: 512,
		Pointwise:   true,
	}
}

// Task is a running server.
type Task struct {
	Address string

	// What has arrived so far.
	Connections atomic.Int64
	Ranks       atomic.Int64
	Cancels     atomic.Int64
	Pings       atomic.Int64

	listener net.Listener
	running  sync.WaitGroup

	mu       sync.Mutex
	options  Options
	sessions map[*Session]struct{}
	stopped  bool
	thawed   chan struct{} // closed unless frozen
}

// Start starts a Task that stops when the test ends.
func Start(tb testing.TB, options Options) *Task {
	tb.Helper()
	if options.Welcome == (ipc.Welcome{}) {
		options.Welcome = DefaultWelcome()
	}
	address := options.Address
	if address == "" {
		address = newAddress(tb)
	}
	listener, err := net.Listen("unix", address)
	if err != nil {
		tb.Fatalf("start test Task: %v", err)
	}
	t := &Task{Address: address, listener: listener, options: options, sessions: make(map[*Session]struct{}), thawed: make(chan struct{})}
	close(t.thawed)
	t.running.Go(t.accept)
	tb.Cleanup(t.Stop)
	return t
}

// newAddress names a socket in a directory of its own. That of testing.TB is too deep for a socket's 107 bytes.
func newAddress(tb testing.TB) string {
	dir, err := os.MkdirTemp("", "ipctest")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "task.sock")
}

// Stop closes the socket and every connection, as a Task that was killed. It may be called twice.
func (t *Task) Stop() {
	t.listener.Close()
	t.mu.Lock()
	t.stopped = true
	t.mu.Unlock()
	t.Disconnect()
	t.Thaw()
	t.running.Wait()
}

// Disconnect closes every connection; new ones are still accepted.
func (t *Task) Disconnect() {
	for _, s := range t.open() {
		s.Close()
	}
}

// Goaway announces drain on every connection.
func (t *Task) Goaway() {
	for _, s := range t.open() {
		s.Send(0, &ipc.Goaway{Reason: "shutdown"})
	}
}

// SetRank, SetPing and SetWelcome change the behaviour for what arrives from now on.
func (t *Task) SetRank(h Handler)               { t.set(func(o *Options) { o.Rank = h }) }
func (t *Task) SetPing(ping func() ipc.Message) { t.set(func(o *Options) { o.Ping = ping }) }
func (t *Task) SetWelcome(w ipc.Welcome)        { t.set(func(o *Options) { o.Welcome = w }) }

func (t *Task) set(change func(*Options)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&t.options)
}

// Freeze makes the Task neither read nor answer, as one that got SIGSTOP, until Thaw. It may be called twice.
func (t *Task) Freeze() {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.thawed:
		t.thawed = make(chan struct{})
	default:
	}
}

// Thaw ends Freeze. It may be called twice.
func (t *Task) Thaw() {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.thawed:
	default:
		close(t.thawed)
	}
}

func (t *Task) wait() {
	t.mu.Lock()
	thawed := t.thawed
	t.mu.Unlock()
	<-thawed
}

func (t *Task) current() Options {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.options
}

func (t *Task) open() []*Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []*Session
	for s := range t.sessions {
		all = append(all, s)
	}
	return all
}

func (t *Task) accept() {
	for {
		nc, err := t.listener.Accept()
		if err != nil {
			return
		}
		t.serve(nc)
	}
}

func (t *Task) serve(nc net.Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		nc.Close()
		return
	}
	t.Connections.Add(1)
	s := newSession(t, nc)
	t.sessions[s] = struct{}{}
	t.running.Go(s.serve)
}
