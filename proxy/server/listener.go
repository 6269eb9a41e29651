package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"trtmc-ranking-proxy/proxy/disconnect"
)

// listener bounds the connections and has each watched for its client's leaving.
type listener struct {
	net.Listener
	server *Server
	admin  bool // for the admin routes, which must answer also when clients take up every connection
}

// acceptPause is the wait after a failed accept, which is for lack of descriptors or memory and passes.
const acceptPause = 50 * time.Millisecond

// Accept returns only connections, or the listener's end: fasthttp would stop serving at any other error.
func (l *listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil, io.EOF
		}
		if err != nil {
			l.server.Log.Error().Err(err).Msg("cannot accept a connection")
			time.Sleep(acceptPause)
			continue
		}
		if conn := l.admit(inner); conn != nil {
			return conn, nil
		}
	}
}

func (l *listener) admit(inner net.Conn) net.Conn {
	s := l.server
	if open := s.Metrics.Connections.Add(l.counted()); !l.admin && open > int64(s.Config.MaxConnections) {
		inner.SetWriteDeadline(time.Now().Add(acceptPause))
		io.WriteString(inner, tooManyConnections)
		l.drop(inner)
		return nil
	}
	watched, err := s.watcher.Watch(inner)
	if err != nil {
		s.Log.Error().Err(err).Msg("cannot watch a connection")
		l.drop(inner)
		return nil
	}
	c := &conn{Conn: watched, server: s, listener: l}
	s.open.add(c)
	return c
}

func (l *listener) drop(inner net.Conn) {
	l.server.Metrics.ConnectionsRejected.Inc()
	l.server.Metrics.Connections.Add(-l.counted())
	inner.Close()
}

// counted is 1 for connections that count towards the bound.
func (l *listener) counted() int64 {
	if l.admin {
		return 0
	}
	return 1
}

// tooManyConnections is written before any request is read, so it has no request id.
var tooManyConnections = func() string {
	const body = `{"error":"server_busy","message":"too many connections","detail":"","request_id":""}`
	return fmt.Sprintf("HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"+
		"Retry-After: 1\r\nConnection: close\r\n\r\n%s", len(body), body)
}()

// conn is one client's connection.
type conn struct {
	*disconnect.Conn
	listener *listener
	server   *Server
	answers  answers
	body     body
	linger   atomic.Bool // the client may still be sending what has been refused
	once     sync.Once
}

// SetReadDeadline is called by fasthttp at each stage of reading a request.
func (c *conn) SetReadDeadline(t time.Time) error { return c.server.open.setReadDeadline(c, t) }

// clientConn is the connection of a request, below the check of its framing and TLS.
func clientConn(ctx *fasthttp.RequestCtx) net.Conn { return innermost(ctx.Conn()) }

func innermost(c net.Conn) net.Conn {
	for {
		outer, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return c
		}
		c = outer.NetConn()
	}
}

// Bounds of a lingering close.
const (
	lingerTime  = 2 * time.Second
	lingerBytes = 64 << 20
)

// Close first takes in what a refused client is still sending: closing with unread data resets the connection, and the client
// would lose the answer that tells it why.
func (c *conn) Close() error {
	c.once.Do(func() {
		c.settle(true)
		if tcp, ok := c.Conn.Conn.(*net.TCPConn); ok && c.linger.Load() {
			tcp.CloseWrite()
			tcp.SetReadDeadline(time.Now().Add(lingerTime))
			io.CopyN(io.Discard, tcp, lingerBytes)
		}
		c.server.open.remove(c)
		c.release()
		c.server.Metrics.Connections.Add(-c.listener.counted())
	})
	return c.Conn.Close()
}
