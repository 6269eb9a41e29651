package server

import (
	"context"
	"sync"
	"time"
)

// connections are the open ones. During a drain it bounds the time in which a request may still arrive: fasthttp waits for every
// connection on which a byte of a request has been read, so half a header would hold the exit for the whole read timeout.
type connections struct {
	mu     sync.Mutex
	open   map[*conn]struct{}
	cutoff time.Time // zero: none
	ended  sync.WaitGroup
}

func (c *connections) add(added *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = make(map[*conn]struct{})
	}
	c.open[added] = struct{}{}
	c.ended.Add(1)
}

func (c *connections) remove(removed *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, removed)
	c.ended.Done()
}

// wait returns when every connection has been closed, or ctx has ended. fasthttp's own wait ends a little before.
func (c *connections) wait(ctx context.Context) error {
	closed := make(chan struct{})
	go func() {
		c.ended.Wait()
		close(closed)
	}()
	select {
	case <-closed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
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
