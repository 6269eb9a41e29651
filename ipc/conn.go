package ipc

import (
	"bufio"
	"context"
	"net"
	"sync"
)

// Conn is the client's end of one connection, past its greeting. All methods may be called from many goroutines.
//
// A request is given the next exchange, entered in pending and written: by its caller while nobody else writes and the socket takes it at
// once, else by the one writer. The one reader finds the answer's call in pending and completes it. The hand-over to the writer has no queue:
// callers wait for it, each no longer than its context, so a Task that does not read costs what the callers hold already and nothing more.
type Conn struct {
	nc       net.Conn
	frames   *FrameReader
	welcome  *Welcome
	calls    chan *call    // for the writer
	unsent   chan struct{} // a caller has left a part of its frame in out
	cancels  chan uint64   // exchanges to withdraw
	done     chan struct{}
	draining chan struct{}
	loops    sync.WaitGroup

	writing sync.Mutex // guards out and now; held while writing
	out     *bufio.Writer
	now     *instant

	mu        sync.Mutex
	last      uint64           // exchange given out
	pending   map[uint64]*call // written and not answered
	abandoned int              // of pending
	err       error            // set once, before done is closed
}

func newConn(nc net.Conn, now *instant, frames *FrameReader, welcome *Welcome) *Conn {
	c := &Conn{
		nc:       nc,
		frames:   frames,
		welcome:  welcome,
		calls:    make(chan *call),
		cancels:  make(chan uint64, maxAbandoned),
		done:     make(chan struct{}),
		draining: make(chan struct{}),
		pending:  make(map[uint64]*call),
		unsent:   make(chan struct{}, 1),
		out:      bufio.NewWriterSize(nc, bufferSize),
		now:      now,
	}
	c.loops.Go(c.readLoop)
	c.loops.Go(c.writeLoop)
	return c
}

// Welcome returns the Task's identity and limits. It must not be changed.
func (c *Conn) Welcome() *Welcome { return c.welcome }

// Done is closed when the connection has ended; Err then says why.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Draining is closed when the Task has sent goaway. What is in flight is still answered; new ranks belong elsewhere.
func (c *Conn) Draining() <-chan struct{} { return c.draining }

// Err returns nil while the connection lives, then why it ended: a *ProtocolError, the *Error the Task sent for the connection, io.EOF if the
// Task closed it, ErrClosed after Close, or what the socket returned.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close ends the connection and waits for its goroutines. Calls in flight return a *ClosedError. The Task cancels their ranks.
func (c *Conn) Close() error {
	c.fail(ErrClosed)
	c.loops.Wait()
	return nil
}

// Rank asks for the scores of r and waits for them, or for the end of ctx. The error is
//
//   - an *Error if the Task refused, with an unknown code read as backend_failed; or with code backend_failed if the Task answered with
//     something that cannot be the scores of r (another count or id, a number that is not finite), which also ends the connection;
//   - a *ProtocolError if r itself breaks the protocol; nothing was sent;
//   - a *ClosedError if the connection ended without an answer, or the Task drains;
//   - ctx.Err() at once when ctx ends; the rank is cancelled, and an answer that still comes is dropped.
//
// r is not used after Rank returns.
func (c *Conn) Rank(ctx context.Context, r *Rank) (*Scores, error) {
	select {
	case <-c.draining:
		return nil, &ClosedError{Cause: ErrDraining}
	default:
	}
	m, err := c.roundTrip(ctx, r, &call{id: r.ID, passages: len(r.Passages), want: TypeScores})
	if err != nil {
		return nil, err
	}
	return m.(*Scores), nil
}

// Ping asks the scheduling part of the Task for its health. Its errors are those of Rank.
func (c *Conn) Ping(ctx context.Context) (*Pong, error) {
	m, err := c.roundTrip(ctx, &Ping{}, &call{want: TypePong})
	if err != nil {
		return nil, err
	}
	return m.(*Pong), nil
}

func (c *Conn) roundTrip(ctx context.Context, request Message, cl *call) (Message, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	cl.frame = frames.Get().(*[]byte)
	cl.reply = make(chan Message, 1)
	frame, err := AppendFrame(*cl.frame, 1, request)
	*cl.frame = frame
	if err == nil {
		err = c.handOver(ctx, cl)
	}
	if err != nil {
		putFrame(cl.frame)
		return nil, err
	}
	return c.await(ctx, cl)
}

// handOver writes cl or gives it to the writer; its frame is no longer the caller's then.
func (c *Conn) handOver(ctx context.Context, cl *call) error {
	if c.writeNow(cl) {
		return nil
	}
	select {
	case c.calls <- cl:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.done:
		return &ClosedError{Cause: c.Err()}
	}
}

func (c *Conn) await(ctx context.Context, cl *call) (Message, error) {
	select {
	case m := <-cl.reply:
		return result(m)
	case <-ctx.Done():
		c.abandon(cl)
	case <-c.done:
	}
	// An answer that crossed with the end of ctx or of the connection is still an answer.
	select {
	case m := <-cl.reply:
		return result(m)
	default:
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return nil, c.closed(cl)
}

func result(m Message) (Message, error) {
	if e, ok := m.(*Error); ok {
		return nil, e
	}
	return m, nil
}

func (c *Conn) closed(cl *call) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &ClosedError{Sent: cl.exchange != 0, Cause: c.err}
}

// abandon leaves cl to itself: it is not written if it was not yet; otherwise a rank is cancelled and its answer awaited by nobody.
func (c *Conn) abandon(cl *call) {
	c.mu.Lock()
	cl.abandoned = true
	owed := c.pending[cl.exchange] == cl
	if owed {
		c.abandoned++
	}
	tooMany := c.abandoned > maxAbandoned
	c.mu.Unlock()
	queued := !owed || cl.want != TypeScores || c.cancel(cl.exchange)
	if tooMany || !queued {
		c.fail(faultf(ClassUnanswered, "%d requests that were given up have no answer, or their cancels no reader", maxAbandoned))
	}
}

// cancel queues a cancel for the writer, or returns false if the Task takes none.
func (c *Conn) cancel(exchange uint64) bool {
	select {
	case c.cancels <- exchange:
		return true
	default:
		return false
	}
}

// fail ends the connection for the first reason given.
func (c *Conn) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = err
	c.nc.Close()
	close(c.done)
}
