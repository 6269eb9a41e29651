// Package load sends prepared requests and accounts for every one of them.
//
// A closed loop keeps a fixed number of requests in flight: the next starts when one ends, so a slow server is asked less. An open loop sends
// at intended times that do not depend on the answers, and latency counts from the intended start: a server that stalls shows the waiting of
// every request that should have been sent meanwhile (no coordinated omission).
//
// What is measured: latencies and outcomes are those of the requests whose (intended) start falls into the window, however late they end;
// rates count the completions inside the window, whenever they began. Requests outside the window load the server and are not counted.
package load

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Plan is one measurement.
type Plan struct {
	Target      Target
	Requests    []Request // sent in turn
	Concurrency int       // closed loop: requests in flight; open loop: most requests in flight, later ones wait
	Arrivals    Arrivals  // nil: closed loop
	WarmUp      time.Duration
	Window      time.Duration
	Timeout     time.Duration // of one request, from its sending
	Objective   time.Duration // latency for goodput; 0: none
	Stages      bool          // read the Server-Timing header of every answer
	Progress    func(Progress)
}

// Run carries the plan out. It returns when every request it sent has ended; a cancelled ctx stops the sending early.
func Run(ctx context.Context, p Plan) (*Outcome, error) {
	if len(p.Requests) == 0 || p.Concurrency < 1 || p.Window <= 0 || p.Timeout <= 0 {
		return nil, errors.New("a load needs requests, a concurrency, a window and a time-out")
	}
	begin := time.Now()
	r := newRecorder(begin.Add(p.WarmUp), p.Window, p.Objective)
	stopProgress := r.report(p.Progress)
	stopWatch := watchCPU(r.start, r.end)
	if p.Arrivals == nil {
		closedLoop(ctx, p, r)
	} else {
		openLoop(ctx, p, r, begin)
	}
	stopProgress()
	r.outcome.CPU = stopWatch()
	return r.outcome, ctx.Err()
}

func closedLoop(ctx context.Context, p Plan, r *recorder) {
	var next atomic.Uint64
	var workers sync.WaitGroup
	for range p.Concurrency {
		workers.Go(func() {
			c := conn{target: p.Target}
			defer c.close()
			for now := time.Now(); now.Before(r.end) && ctx.Err() == nil; now = time.Now() {
				i := (next.Add(1) - 1) % uint64(len(p.Requests))
				if !p.one(&c, &p.Requests[i], now, r) {
					time.Sleep(refusedPause)
				}
			}
		})
	}
	workers.Wait()
}

// refusedPause keeps a closed loop from spinning on a server that refuses at once.
const refusedPause = time.Millisecond

func openLoop(ctx context.Context, p Plan, r *recorder, begin time.Time) {
	free := newPool(p.Target, p.Concurrency)
	defer free.close()
	var inFlight sync.WaitGroup
	for i := 0; ; i++ {
		intended := begin.Add(p.Arrivals.At(i))
		if !intended.Before(r.end) || ctx.Err() != nil {
			break
		}
		sleepUntil(intended)
		inFlight.Go(func() {
			c := free.take()
			defer free.give(c)
			p.one(c, &p.Requests[i%len(p.Requests)], intended, r)
		})
	}
	inFlight.Wait()
}

// one sends a request and records it; it tells whether an answer came.
func (p *Plan) one(c *conn, request *Request, intended time.Time, r *recorder) bool {
	s := sample{request: request, intended: intended, sent: time.Now()}
	err := c.do(request.Wire, s.sent.Add(p.Timeout))
	s.done = time.Now()
	if err != nil {
		s.kind, s.detail = classifyError(err), err.Error()
		r.record(&s)
		return false
	}
	body := c.response.Body()
	s.status = c.response.StatusCode()
	s.kind = classifyStatus(s.status)
	if s.kind == OK && !complete(body, request.Passages) {
		s.kind = WrongAnswer
	}
	if s.kind == OK {
		s.tokens = tokensIn(body)
		if p.Stages {
			s.stages = c.response.Header.Peek("Server-Timing")
		}
	} else {
		s.detail = string(body[:min(len(body), 300)])
	}
	r.record(&s)
	return s.kind == OK || s.kind == WrongAnswer
}

func classifyError(err error) Kind {
	if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
		return TimedOut
	}
	return NoAnswer
}

func classifyStatus(status int) Kind {
	switch {
	case status == 200:
		return OK
	case status == 429 || status == 503:
		return Rejected
	default:
		return Failed
	}
}

// sleepUntil sleeps with the precision of the kernel. The runtime's own timers wake an idle process up to a millisecond late, which an open
// loop would report as the server's latency.
func sleepUntil(t time.Time) {
	for d := time.Until(t); d > 0; d = time.Until(t) {
		ts := syscall.NsecToTimespec(int64(d))
		_ = syscall.Nanosleep(&ts, nil) // an interrupted sleep goes round again
	}
}
