package server

import (
	"net"
	"sync"
	"time"

	"trtmc-ranking-proxy/proxy/records"
)

// answers are those of one connection that fasthttp has but may not have handed to the socket.
//
// fasthttp tells nobody when it has written an answer, and keeps answers back while further requests of the same client wait in its
// read buffer. But after the last write it turns to reading the next request, or closes: so what has been answered is settled at
// the first Read or Close behind a Write. (Of an answer over 4 KiB, with the next request already begun behind it, the tail may
// follow later.)
type answers struct {
	mu          sync.Mutex
	first, last *exchange
	wrote       time.Time // the end of the last write behind the newest answer; zero: none
	failed      bool      // that write
}

func (a *answers) add(x *exchange) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last == nil {
		a.first = x
	} else {
		a.last.next = x
	}
	a.last, a.wrote = x, time.Time{}
}

func (a *answers) written(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.first != nil {
		a.wrote, a.failed = time.Now(), err != nil
	}
}

// take removes the answers that are written, or all of them when the connection ends.
func (a *answers) take(end bool) (first *exchange, written time.Time, sent bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	written, sent = a.wrote, !a.failed
	if written.IsZero() {
		if !end {
			return nil, written, false
		}
		written, sent = time.Now(), false
	}
	first = a.first
	a.first, a.last, a.wrote = nil, nil, time.Time{}
	return first, written, sent
}

func (c *conn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.answers.written(err)
	return n, err
}

func (c *conn) Read(b []byte) (int, error) {
	c.settle(false)
	return c.Conn.Read(b)
}

func (c *conn) settle(end bool) {
	x, written, sent := c.answers.take(end)
	for x != nil {
		next := x.next
		c.server.settle(x, written, sent)
		x = next
	}
}

var _ net.Conn = (*conn)(nil)

// settle ends a request for good: its last byte went to the socket at the given time, or, if it was not sent, never.
func (s *Server) settle(x *exchange, at time.Time, sent bool) {
	took := at.Sub(x.start)
	x.route.counters.Handled(took)
	if !sent {
		s.Metrics.AnswersUnsent.Inc()
	}
	s.log(x, took)
	record := s.Records != nil && s.recorded(x.route)
	if record || x.span != nil {
		s.fill(x, took, sent)
	}
	x.span.End(&x.record)
	if record {
		s.Records.Put(&x.record)
	}
}

func (s *Server) fill(x *exchange, took time.Duration, sent bool) {
	task := x.result.Task
	if task == nil {
		task = s.Backend.Identity()
	}
	x.record = records.Record{
		ID: x.id, Time: x.start, Route: x.route.path, Dialect: x.route.dialectName(), Warmup: x.warmup, InFlight: x.inFlight,
		Status: x.status, Outcome: x.outcome(), Sent: sent, BodyBytes: x.bodyBytes,
		Request: x.request, Result: x.result, Task: task, Handler: took, Decode: x.decode,
	}
	if x.err != nil {
		x.record.Reason = x.err.Reason
	}
}
