package server

import (
	"context"
	"sync"
	"time"
)

// lifetime is the context of one ranking: it ends at the deadline or when the client leaves. It is used again for later rankings,
// where package context would allocate a context, a channel, a timer and two closures for each; so nothing may keep it.
type lifetime struct {
	deadline time.Time
	timer    *time.Timer
	leave    func() // ends it because the client has left

	mu   sync.Mutex
	done chan struct{}
	err  error
}

var lifetimes = sync.Pool{New: func() any {
	l := &lifetime{done: make(chan struct{})}
	l.leave = func() { l.end(context.Canceled) }
	return l
}}

func beginLifetime(limit time.Duration) *lifetime {
	l := lifetimes.Get().(*lifetime)
	l.deadline = time.Now().Add(limit)
	if l.timer == nil {
		l.timer = time.AfterFunc(limit, func() { l.end(context.DeadlineExceeded) })
	} else {
		l.timer.Reset(limit)
	}
	return l
}

// finish gives l back, unless it has ended: then its channel is closed, and its timer may still be at work.
func (l *lifetime) finish() {
	if l.timer.Stop() && l.Err() == nil {
		lifetimes.Put(l)
	}
}

func (l *lifetime) end(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
		close(l.done)
	}
}

func (l *lifetime) Deadline() (time.Time, bool) { return l.deadline, true }
func (l *lifetime) Done() <-chan struct{}       { return l.done }
func (l *lifetime) Value(any) any               { return nil }

func (l *lifetime) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}
