package server

import (
	"sync"
	"time"
)

// connections are the open ones. During a drain it bounds the time in which a request may still arrive: fasthttp waits for every
// connection on which a byte of a request has been read, so half a header would hold the exit for the whole read timeout.
type connections struct {
	mu     sync.Mutex
	open   map[*conn]struct{}
	cutoff time.Time // zero: none
}

func (c *connections) add(added *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = make(map[*conn]struct{})
	}
	c.open[added] = struct{}{}
}

func (c *connections) remove(removed *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, removed)
}

// cutOff ends all reading at the given time, on connections open and to come.
func (c *connections) cutOff(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cutoff = at
	for open := range c.open {
		open.Conn.SetReadDeadline(at)
	}
}

// setReadDeadline sets the earlier of t and the cutoff; a zero t means never.
func (c *connections) setReadDeadline(of *conn, t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.cutoff.IsZero() && (t.IsZero() || t.After(c.cutoff)) {
		t = c.cutoff
	}
	return of.Conn.SetReadDeadline(t)
}
