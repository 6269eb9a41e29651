package soak

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

// fault is something that happens to a server. It returns when it is over and the proxy is ready again.
type fault struct {
	name   string
	happen func(*run) error
}

// restarts end a process.
var restarts = []fault{
	{"Task killed", func(r *run) error { r.stack.Task.Kill(); return r.startTask() }},
	{"Task terminated", func(r *run) error { r.stack.Task.Stop(grace); return r.startTask() }},
	{"proxy killed", func(r *run) error {
		r.stack.Proxy.Kill()
		r.killed = append(r.killed, time.Now())
		return r.startProxy()
	}},
	{"proxy terminated", func(r *run) error { r.stack.Proxy.Stop(grace); return r.startProxy() }},
	{"both killed", func(r *run) error {
		r.stack.Task.Kill()
		r.stack.Proxy.Kill()
		r.killed = append(r.killed, time.Now())
		if err := r.startTask(); err != nil {
			return err
		}
		return r.startProxy()
	}},
}

// survived are those that leave both processes running.
var survived = []fault{
	{"Task stopped for a second", func(r *run) error {
		if err := r.stack.Task.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		time.Sleep(time.Second)
		return r.stack.Task.Signal(syscall.SIGCONT)
	}},
	{"proxy stopped for a second", func(r *run) error {
		if err := r.stack.Proxy.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		time.Sleep(time.Second)
		return r.stack.Proxy.Signal(syscall.SIGCONT)
	}},
	{"socket file removed", func(r *run) error { os.Remove(r.stack.Socket); return nil }},
	{"records reopened", func(r *run) error { return r.stack.Proxy.Signal(syscall.SIGHUP) }},
	{"clients that drip", func(r *run) error {
		return r.open(200, "POST /v1/ranking HTTP/1.1\r\nHost: x\r\nX-Slow: ", 2*time.Second)
	}},
	{"clients that never read", func(r *run) error {
		return r.open(20, strings.Repeat("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n", 100), time.Second)
	}},
	{"clients that break off", func(r *run) error {
		return r.open(100, "POST /v1/ranking HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{", 0)
	}},
	{"ambiguous framing", func(r *run) error {
		return r.open(50, "POST /v1/models HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n", time.Second)
	}},
	{"noise", func(r *run) error { return r.open(50, "\x16\x03\x01\x00\xff{}[]\r\n\r\n", time.Second) }},
}

// grace is longer than either process takes to drain.
const grace = 30 * time.Second

// pauses lie between faults.
const leastPause, morePause = 500, 2500 // ms

func (r *run) inject(ctx context.Context, faults []fault) error {
	for {
		pause := time.Duration(leastPause+r.random.IntN(morePause)) * time.Millisecond
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil
		}
		f := faults[r.random.IntN(len(faults))]
		r.Log("%s", f.name)
		if err := f.happen(r); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		r.result.Faults[f.name]++
		if err := r.ready(); err != nil {
			return fmt.Errorf("after %q: %w", f.name, err)
		}
	}
}

// readyTime is far longer than either process takes to start.
const readyTime = time.Minute

func (r *run) ready() error {
	ctx, cancel := context.WithTimeout(context.Background(), readyTime)
	defer cancel()
	return r.stack.WaitReady(ctx)
}

func (r *run) startTask() error  { return r.stack.StartTask() }
func (r *run) startProxy() error { return r.stack.StartProxy() }

// open makes n connections that each write text, and closes them after a while.
func (r *run) open(n int, text string, after time.Duration) error {
	var conns []net.Conn
	defer func() {
		for _, conn := range conns {
			conn.Close()
		}
	}()
	for range n {
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.stack.URL, "http://"))
		if err != nil {
			return err
		}
		conns = append(conns, conn)
		conn.SetWriteDeadline(time.Now().Add(time.Second))
		io.WriteString(conn, text) // a refusal may come before all is written
	}
	time.Sleep(after)
	return nil
}
