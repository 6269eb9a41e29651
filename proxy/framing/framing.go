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

// Listener returns inner with the check on each of its connections. TLS, if any, must be inner's.
func Listener(inner net.Listener) net.Listener { return listener{inner} }

type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &Conn{Conn: inner}
	if secure, ok := inner.(*tls.Conn); ok {
		return &secureConn{c, secure}, nil
	}
	return c, nil
}

// Conn is a connection whose Read gives no byte that ends a request ambiguously; an *Error comes in its place, and stays.
type Conn struct {
	net.Conn
	checker checker
	refused *Error // nil while all is sound
}

// Read reads what is sound. It may hold back bytes behind what is not.
func (c *Conn) Read(b []byte) (int, error) {
	if c.refused != nil {
		return 0, c.refused
	}
	n, err := c.Conn.Read(b)
	sound, refused := c.checker.check(b[:n])
	if refused == nil {
		return n, err
	}
	if c.refused = refused; sound == 0 {
		return 0, refused
	}
	return sound, nil
}

// Refusal is the rule that was broken, nil if none was. Like Read it is for the reading goroutine.
func (c *Conn) Refusal() *Error { return c.refused }

// NetConn is the connection below.
func (c *Conn) NetConn() net.Conn { return c.Conn }

// secureConn has what a server asks of a TLS connection.
type secureConn struct {
	*Conn
	secure *tls.Conn
}

func (c *secureConn) Handshake() error                     { return c.secure.Handshake() }
func (c *secureConn) ConnectionState() tls.ConnectionState { return c.secure.ConnectionState() }
