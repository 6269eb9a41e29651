// Package disconnect tells a request in progress that its client has left.
//
// fasthttp reads nothing from a connection while its handler runs, and its Done() only fires at shutdown, so a client that gives
// up would be noticed when its answer is written: after the work. Here one goroutine waits, with epoll, for the hang-up of every
// connection. It asks for EPOLLRDHUP alone, so data that arrives early (pipelining, TLS records) does not wake it, and each
// connection is registered once, so a request costs no system call.
//
// A client that shuts down only its sending side counts as gone, as it does for net/http and nginx.
package disconnect

import (
	"fmt"
	"net"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Watcher waits for hang-ups. Close it when no connection is left.
type Watcher struct {
	epoll int
	wake  int // eventfd: ends the goroutine

	mu    sync.Mutex
	next  int32
	conns map[int32]*Conn // by a serial number of ours: a file descriptor is reused too soon to name a connection

	done chan struct{}
}

// wakeKey is the key of the eventfd; connections count up from 1.
const wakeKey = 0

// NewWatcher starts the goroutine.
func NewWatcher() (*Watcher, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("cannot create an epoll instance: %w", err)
	}
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		unix.Close(epoll)
		return nil, fmt.Errorf("cannot create an eventfd: %w", err)
	}
	w := &Watcher{epoll: epoll, wake: wake, conns: make(map[int32]*Conn), done: make(chan struct{})}
	if err := w.add(wake, wakeKey, unix.EPOLLIN); err != nil {
		unix.Close(epoll)
		unix.Close(wake)
		return nil, err
	}
	go w.wait()
	return w, nil
}

// Close ends the goroutine. Connections go on, unwatched.
func (w *Watcher) Close() {
	one := [8]byte{0: 1}
	unix.Write(w.wake, one[:])
	<-w.done
	unix.Close(w.wake)
	unix.Close(w.epoll)
}

func (w *Watcher) wait() {
	defer close(w.done)
	events := make([]unix.EpollEvent, 64)
	for {
		n, err := unix.EpollWait(w.epoll, events, -1)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			panic("disconnect: epoll_wait: " + err.Error()) // only a programming error gets here
		}
		for _, event := range events[:n] {
			if event.Pad == wakeKey {
				return
			}
			w.hangUp(event.Pad)
		}
	}
}

func (w *Watcher) hangUp(key int32) {
	w.mu.Lock()
	conn := w.conns[key]
	w.mu.Unlock()
	if conn != nil {
		conn.hangUp()
	}
}

// add registers fd. The kernel hands Fd and Pad back untouched; Pad carries the key.
func (w *Watcher) add(fd int, key int32, events uint32) error {
	event := unix.EpollEvent{Events: events, Fd: int32(fd), Pad: key}
	if err := unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
		return fmt.Errorf("cannot watch a connection: %w", err)
	}
	return nil
}

// Watch wraps a connection so that requests on it can be told of its end. Closing the Conn ends the watch.
func (w *Watcher) Watch(inner net.Conn) (*Conn, error) {
	raw, ok := inner.(syscall.Conn)
	if !ok {
		return nil, fmt.Errorf("cannot watch a %T: it has no file descriptor", inner)
	}
	control, err := raw.SyscallConn()
	if err != nil {
		return nil, err
	}
	conn := &Conn{Conn: inner, watcher: w, key: w.register()}
	w.mu.Lock()
	w.conns[conn.key] = conn
	w.mu.Unlock()
	var addErr error
	err = control.Control(func(fd uintptr) {
		addErr = w.add(int(fd), conn.key, unix.EPOLLRDHUP|unix.EPOLLONESHOT)
	})
	if err == nil {
		err = addErr
	}
	if err != nil {
		w.forget(conn.key)
		return nil, err
	}
	return conn, nil
}

// register returns an unused key.
func (w *Watcher) register() int32 {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		w.next++
		if w.next <= wakeKey {
			w.next = wakeKey + 1
		}
		if _, used := w.conns[w.next]; !used {
			return w.next
		}
	}
}

func (w *Watcher) forget(key int32) {
	w.mu.Lock()
	delete(w.conns, key)
	w.mu.Unlock()
}
