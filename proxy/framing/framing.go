// Package framing refuses HTTP/1 requests that two readers could take to end in different places, before the server's own parser sees
// their end. Parsers are lenient, each in its own way; a front that reads a request one way and a server that reads it another can be made
// to take the body of one client for the request of the next. Here whatever leaves room for a second reading ends the connection:
//
//   - a line that ends in LF alone, a CR or another control byte within a line, a line continued on the next (RFC 9112, 2.2 and 5.2)
//   - anything but a token before the colon of a header, a space above all (RFC 9112, 5.1)
//   - more than one Content-Length, or one that is not digits alone; Transfer-Encoding other than one `chunked`; both; the latter
//     in HTTP/1.0 (RFC 9112, 6.1 to 6.3)
//   - extensions and trailers of chunks, which no client of a ranking server sends
//
// The check follows the bytes as they pass, in one direction and without a copy but of lines cut by the network.
package framing

import (
	"crypto/tls"
	"net"
)

// Error says which rule a request breaks. It quotes nothing of the request.
type Error struct{ Rule string }

func (e *Error) Error() string { return "ambiguous HTTP framing: " + e.Rule }

// Seen is what a read has found: how many heads of requests, and how many bytes more the body behind the last head is said to have, by
// Content-Length or by a chunk.
type Seen struct {
	Heads int
	Body  uint64
}

// Announced is told before more of the body is read. An error ends the reading of the connection.
type Announced func(net.Conn, Seen) error

// Listener returns inner with the check on each of its connections. TLS, if any, must be inner's.
func Listener(inner net.Listener, announced Announced) net.Listener {
	return listener{inner, announced}
}

type listener struct {
	net.Listener
	announced Announced
}

func (l listener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &Conn{Conn: inner, announced: l.announced}
	if secure, ok := inner.(*tls.Conn); ok {
		return &secureConn{c, secure}, nil
	}
	return c, nil
}

// Conn is a connection whose Read gives no byte that ends a request ambiguously; an *Error comes in its place, and stays. So does the error
// of Announced, behind what was read.
type Conn struct {
	net.Conn
	announced Announced
	checker   checker
	refused   error // nil while all is sound
}

// Read reads what is sound. It may hold back bytes behind what is not.
func (c *Conn) Read(b []byte) (int, error) {
	if c.refused != nil {
		return 0, c.refused
	}
	n, err := c.Conn.Read(b)
	sound, refused := c.checker.check(b[:n])
	if refused == nil {
		c.announce()
		return n, err
	}
	if c.refused = refused; sound == 0 {
		return 0, refused
	}
	return sound, nil
}

func (c *Conn) announce() {
	if seen := c.checker.seen; seen != (Seen{}) {
		c.checker.seen = Seen{}
		c.refused = c.announced(c.Conn, seen)
	}
}

// Refusal is why nothing more is read, nil if it is. Like Read it is for the reading goroutine.
func (c *Conn) Refusal() error { return c.refused }

// NetConn is the connection below.
func (c *Conn) NetConn() net.Conn { return c.Conn }

// secureConn has what a server asks of a TLS connection.
type secureConn struct {
	*Conn
	secure *tls.Conn
}

func (c *secureConn) Handshake() error                     { return c.secure.Handshake() }
func (c *secureConn) ConnectionState() tls.ConnectionState { return c.secure.ConnectionState() }
