package server

import (
	"net"
	"sync/atomic"
	"time"

	"trtmc-ranking-proxy/proxy/framing"
	"trtmc-ranking-proxy/proxy/ranking"
)

// freeBodyBytes of each body are not counted, so that large ones, or a few clients who announce such, leave room for the usual.
const freeBodyBytes = 64 << 10

// body is the share of a connection in Server.bodies: what the last request announces, until that request is answered.
type body struct {
	begun, ended int // requests
	announced    uint64
	held         atomic.Int64 // announced, beyond what is free
}

// hold makes room for a body before it is read, or refuses it. It is called by the goroutine that reads the connection and handles its
// requests. Requests that came in one read with a later one are not counted: they are no larger than the read buffer.
func hold(inner net.Conn, seen framing.Seen) error {
	c, ok := innermost(inner).(*conn)
	if !ok {
		return nil
	}
	b := &c.body
	if seen.Heads > 0 {
		c.release()
		b.begun += seen.Heads
		b.announced = 0
	}
	b.announced += min(seen.Body, uint64(c.server.Config.MaxBodyBytes)) // beyond that the answer is 413
	more := int64(b.announced) - freeBodyBytes - b.held.Load()
	if more <= 0 {
		return nil
	}
	limit := int64(c.server.Config.MaxBodiesBytes)
	// One body of any size has room when there is no other.
	if all := c.server.bodies.Add(more); all > limit && all > b.held.Load()+more {
		c.server.bodies.Add(-more)
		return &ranking.Error{
			Kind: ranking.ServerBusy, Reason: "bodies_bytes", RetryAfter: time.Second, Message: "too many large requests are in progress",
		}
	}
	b.held.Add(more)
	return nil
}

// answered ends a request of the connection.
func (c *conn) answered() {
	if c.body.ended++; c.body.ended >= c.body.begun {
		c.release()
	}
}

func (c *conn) release() { c.server.bodies.Add(-c.body.held.Swap(0)) }
