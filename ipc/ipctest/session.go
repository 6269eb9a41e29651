package ipctest

import (
	"bufio"
	"context"
	"net"
	"sync"

	"trtmc-ranking-proxy/ipc"
)

// Session is one connection of a client.
type Session struct {
	task   *Task
	nc     net.Conn
	frames *ipc.FrameReader
	ctx    context.Context // ends with the session
	leave  context.CancelFunc

	writing sync.Mutex

	mu        sync.Mutex
	withdrawn map[uint64]context.CancelFunc // by exchange, of ranks in work
}

func newSession(t *Task, nc net.Conn) *Session {
	ctx, leave := context.WithCancel(context.Background())
	return &Session{
		task:      t,
		nc:        nc,
		frames:    ipc.NewFrameReader(bufio.NewReader(nc), ipc.FromClient),
		ctx:       ctx,
		leave:     leave,
		withdrawn: make(map[uint64]context.CancelFunc),
	}
}

// Send writes a frame. A message that breaks the protocol cannot be sent this way: use SendBytes.
func (s *Session) Send(exchange uint64, m ipc.Message) {
	s.SendBytes(encode(exchange, m))
}

func encode(exchange uint64, m ipc.Message) []byte {
	frame, err := ipc.AppendFrame(nil, exchange, m)
	if err != nil {
		panic(err)
	}
	return frame
}

// SendBytes writes b as it is. Errors are the client's leaving.
func (s *Session) SendBytes(b []byte) {
	s.task.wait()
	s.writing.Lock()
	defer s.writing.Unlock()
	s.nc.Write(b)
}

// Close ends the connection at once.
func (s *Session) Close() {
	s.leave()
	s.nc.Close()
}

// CloseWrite ends the sending side alone; what the client sends is still read.
func (s *Session) CloseWrite() { s.nc.(*net.UnixConn).CloseWrite() }

func (s *Session) serve() {
	defer s.forget()
	for {
		frame, err := s.frames.Next()
		if err != nil {
			return
		}
		m, err := frame.Decode()
		if err != nil {
			s.Send(0, &ipc.Error{Code: ipc.CodeProtocolError, Message: err.Error()})
			return
		}
		s.task.wait()
		s.handle(frame.Exchange, m)
	}
}

func (s *Session) forget() {
	s.Close()
	s.task.mu.Lock()
	defer s.task.mu.Unlock()
	delete(s.task.sessions, s)
}

func (s *Session) handle(exchange uint64, m ipc.Message) {
	options := s.task.current()
	switch m := m.(type) {
	case *ipc.Hello:
		s.greet(options, m)
	case *ipc.Rank:
		s.task.Ranks.Add(1)
		s.rank(options, exchange, m)
	case *ipc.Cancel:
		s.task.Cancels.Add(1)
		s.withdraw(exchange)
	case *ipc.Ping:
		s.task.Pings.Add(1)
		s.pong(options, exchange)
	}
}

func (s *Session) greet(options Options, hello *ipc.Hello) {
	if options.Greet != nil {
		options.Greet(s, hello)
		return
	}
	s.Send(0, &options.Welcome)
}

func (s *Session) pong(options Options, exchange uint64) {
	var m ipc.Message = &ipc.Pong{Ready: true}
	if options.Ping != nil {
		m = options.Ping()
	}
	if m != nil {
		s.Send(exchange, m)
	}
}

// rank runs the handler beside the session, so that answers may come in any order.
func (s *Session) rank(options Options, exchange uint64, r *ipc.Rank) {
	ctx, cancel := context.WithCancel(s.ctx)
	s.mu.Lock()
	s.withdrawn[exchange] = cancel
	s.mu.Unlock()
	handler := options.Rank
	if handler == nil {
		handler = Answer
	}
	s.task.running.Go(func() {
		defer s.withdraw(exchange)
		handler(&Request{Rank: r, Exchange: exchange, Session: s, ctx: ctx})
	})
}

func (s *Session) withdraw(exchange uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.withdrawn[exchange]; cancel != nil {
		cancel()
	}
	delete(s.withdrawn, exchange)
}
