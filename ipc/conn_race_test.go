package ipc

import (
	"context"
	"net"
	"testing"
)

// The moments between two steps of a Conn that a test from outside cannot hit at will.

func quietConn() *Conn {
	near, _ := net.Pipe()
	return &Conn{nc: near, done: make(chan struct{}), pending: make(map[uint64]*call), cancels: make(chan uint64, 1)}
}

// The caller leaves after the hand-over and before the writer comes to it: nothing is written, no exchange used up.
func TestGivenUpBeforeWritten(t *testing.T) {
	c, cl := quietConn(), &call{want: TypeScores}
	c.abandon(cl)
	if c.enter(cl) || c.last != 0 || len(c.pending) != 0 || c.abandoned != 0 || len(c.cancels) != 0 {
		t.Errorf("written all the same: last %d, pending %d, abandoned %d, cancels %d", c.last, len(c.pending), c.abandoned, len(c.cancels))
	}
}

// The connection ends after the hand-over: the request was not sent, and will not be.
func TestEndedBeforeWritten(t *testing.T) {
	c, cl := quietConn(), &call{want: TypeScores}
	c.err = ErrClosed
	if c.enter(cl) || c.closed(cl).(*ClosedError).Sent {
		t.Error("written all the same")
	}
}

// The answer is there when the context or the connection ends: the caller gets it, every time.
func TestAnswerBeforeEnd(t *testing.T) {
	f := func(what string, end func(*Conn, context.CancelFunc)) {
		t.Helper()
		for range 50 {
			ctx, cancel := context.WithCancel(context.Background())
			c, cl := quietConn(), &call{reply: make(chan Message, 1), want: TypeScores, exchange: 1}
			cl.reply <- &Scores{ID: "r1"}
			end(c, cancel)
			if m, err := c.await(ctx, cl); err != nil || m.(*Scores).ID != "r1" {
				t.Errorf("%s: %v, %v", what, m, err)
			}
			cancel()
		}
	}
	f("context", func(_ *Conn, cancel context.CancelFunc) { cancel() })
	f("connection", func(c *Conn, _ context.CancelFunc) { close(c.done) })
}

// A Task that reads no cancels is given up, even if it answers.
func TestCancelsPileUp(t *testing.T) {
	c := quietConn()
	for i := range cap(c.cancels) + 1 {
		if c.err != nil {
			t.Fatalf("ended after %d cancels: %v", i, c.err)
		}
		cl := &call{want: TypeScores}
		c.enter(cl)
		c.abandon(cl)
		c.leave(cl.exchange)
	}
	if !isClass(c.err, ClassUnanswered) {
		t.Errorf("ended with %v", c.err)
	}
}
