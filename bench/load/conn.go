package load

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/valyala/fasthttp"
)

// Target is the server under test.
type Target struct {
	Network string // tcp or unix
	Address string // host:port, or the path of the socket
}

// conn is one keep-alive connection, used by one request at a time. It dials when first used and again after an error.
type conn struct {
	target   Target
	net      net.Conn
	reader   *bufio.Reader
	response fasthttp.Response
}

// do sends one whole HTTP request and reads the answer into c.response, all by the deadline. A server may close an idle connection just as the
// request leaves: if a connection that has served before ends without a byte of answer, the request goes out once more on a new one.
func (c *conn) do(wire []byte, deadline time.Time) error {
	reused := c.net != nil
	err := c.try(wire, deadline)
	if reused && errors.Is(err, errNoAnswer) {
		err = c.try(wire, deadline)
	}
	return err
}

var errNoAnswer = errors.New("the connection ended before the answer began")

func (c *conn) try(wire []byte, deadline time.Time) (err error) {
	if err := c.dial(deadline); err != nil {
		return err
	}
	defer func() {
		if err != nil || c.response.ConnectionClose() {
			c.close()
		}
	}()
	if err := c.net.SetDeadline(deadline); err != nil {
		return fmt.Errorf("set deadline: %w", err)
	}
	if _, err := c.net.Write(wire); err != nil {
		return notATimeout(err)
	}
	if _, err := c.reader.Peek(1); err != nil {
		return notATimeout(err)
	}
	if err := c.response.Read(c.reader); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	return nil
}

// notATimeout turns an end of the connection into errNoAnswer and leaves a passed deadline as it is.
func notATimeout(err error) error {
	if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
		return err
	}
	return fmt.Errorf("%w: %w", errNoAnswer, err)
}

func (c *conn) dial(deadline time.Time) error {
	if c.net != nil {
		return nil
	}
	dialed, err := net.DialTimeout(c.target.Network, c.target.Address, time.Until(deadline))
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	c.net = dialed
	if c.reader == nil {
		c.reader = bufio.NewReaderSize(dialed, 16<<10)
	}
	c.reader.Reset(dialed)
	return nil
}

func (c *conn) close() {
	if c.net != nil {
		c.net.Close()
		c.net = nil
	}
}

// Hold opens n connections, sends one request over each, and keeps them open and idle until release is called.
func Hold(target Target, r Request, n int, timeout time.Duration) (release func(), err error) {
	held := make([]*conn, 0, n)
	release = func() {
		for _, c := range held {
			c.close()
		}
	}
	for range n {
		c := &conn{target: target}
		held = append(held, c)
		if err := c.do(r.Wire, time.Now().Add(timeout)); err != nil {
			release()
			return nil, err
		}
		if status := c.response.StatusCode(); status != 200 || c.net == nil {
			release()
			return nil, fmt.Errorf("status %d, connection kept: %t", status, c.net != nil)
		}
	}
	return release, nil
}

// Client sends requests one at a time over a connection that it keeps.
type Client struct{ conn conn }

// NewClient dials when first used.
func NewClient(target Target) *Client { return &Client{conn{target: target}} }

// Do sends one request and reads the answer, which must be a 200.
func (c *Client) Do(r Request, timeout time.Duration) error {
	if err := c.conn.do(r.Wire, time.Now().Add(timeout)); err != nil {
		return err
	}
	if status := c.conn.response.StatusCode(); status != fasthttp.StatusOK {
		return fmt.Errorf("status %d: %.300s", status, c.conn.response.Body())
	}
	return nil
}

// Close closes the connection.
func (c *Client) Close() { c.conn.close() }
