package ipc

import (
	"net"
	"syscall"
)

// instant writes to a socket without ever waiting for room.
type instant struct {
	socket syscall.RawConn
	try    func(fd uintptr) bool // made once: made for each write it would be garbage
	b      []byte
	n      int
	err    error
}

func newInstant(nc net.Conn) (*instant, error) {
	socket, err := nc.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil, err
	}
	w := &instant{socket: socket}
	w.try = func(fd uintptr) bool {
		w.n, w.err = syscall.Write(int(fd), w.b)
		return true // also where there is no room: do not wait for it
	}
	return w, nil
}

// write returns how much of b the socket has taken, which may be nothing.
func (w *instant) write(b []byte) (int, error) {
	w.b = b
	err := w.socket.Write(w.try)
	w.b = nil
	switch {
	case err != nil:
		return 0, err
	case w.err == syscall.EAGAIN || w.err == syscall.EINTR:
		return 0, nil
	}
	return w.n, w.err
}
