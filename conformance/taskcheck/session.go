// Package taskcheck tests any Task over its socket by ipc/PROTOCOL.md alone: the byte vectors of conformance/vectors as a client sends
// them, and the rules of a connection.
package taskcheck

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"trtmc-ranking-proxy/ipc"
)

// Both are shortened by tests of this package.
var (
	answerBound = 20 * time.Second       // for any one answer; a loaded model may take its time
	quiet       = 300 * time.Millisecond // in which an answer too many would show
)

// session is one raw connection to the Task.
type session struct {
	conn   net.Conn
	frames *ipc.FrameReader
}

// reply is one frame of the Task.
type reply struct {
	exchange uint64
	message  ipc.Message
}

func dial(socket string) (*session, error) {
	conn, err := net.DialTimeout("unix", socket, answerBound)
	if err != nil {
		return nil, fmt.Errorf("cannot connect: %w", err)
	}
	return &session{conn: conn, frames: ipc.NewFrameReader(bufio.NewReader(conn), ipc.FromTask)}, nil
}

// greeted is a session past its welcome.
func greeted(socket string) (*session, *ipc.Welcome, error) {
	s, err := dial(socket)
	if err != nil {
		return nil, nil, err
	}
	welcome, err := s.greet()
	if err != nil {
		s.close()
		return nil, nil, err
	}
	return s, welcome, nil
}

func (s *session) greet() (*ipc.Welcome, error) {
	if err := s.send(0, &ipc.Hello{Protocol: ipc.ProtocolVersion, Client: "ranking-conformance/1"}); err != nil {
		return nil, err
	}
	got, err := s.next()
	if err != nil {
		return nil, fmt.Errorf("no welcome: %w", err)
	}
	welcome, ok := got.message.(*ipc.Welcome)
	if !ok {
		return nil, fmt.Errorf("%s instead of welcome", describe(got))
	}
	return welcome, nil
}

func (s *session) close() { s.conn.Close() }

func (s *session) send(exchange uint64, m ipc.Message) error {
	frame, err := ipc.AppendFrame(nil, exchange, m)
	if err != nil {
		return err
	}
	return s.write(frame)
}

// write does not fail when the Task has closed: what it said before is still to be read.
func (s *session) write(data []byte) error {
	_ = s.conn.SetWriteDeadline(time.Now().Add(answerBound))
	_, err := s.conn.Write(data)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return nil
	}
	return err
}

func (s *session) closeWrite() error { return s.conn.(*net.UnixConn).CloseWrite() }

// next reads a frame of the Task and decodes it, so that every answer of every case is also checked against the document.
func (s *session) next() (*reply, error) { return s.within(answerBound) }

func (s *session) within(bound time.Duration) (*reply, error) {
	_ = s.conn.SetReadDeadline(time.Now().Add(bound))
	frame, err := s.frames.Next()
	if err != nil {
		return nil, err
	}
	message, err := frame.Decode()
	if err != nil {
		return nil, fmt.Errorf("the Task sent a bad %s: %w", frame.Type, err)
	}
	return &reply{frame.Exchange, message}, nil
}

// silent demands that nothing more comes for a while.
func (s *session) silent() error {
	got, err := s.within(quiet)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil
	case err != nil:
		return fmt.Errorf("the connection did not survive: %w", err)
	}
	return fmt.Errorf("an answer too many: %s", describe(got))
}

// ends demands that the Task closes the connection, with nothing said before.
func (s *session) ends() error {
	got, err := s.next()
	if err == nil {
		return fmt.Errorf("%s instead of the end of the connection", describe(got))
	}
	return isEnd(err)
}

func isEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		return nil
	}
	return fmt.Errorf("the Task did not close the connection: %w", err)
}

// refused demands an error with code on exchange 0, then the end.
func (s *session) refused(code ipc.Code) error {
	got, err := s.next()
	if err != nil {
		return fmt.Errorf("no error %s: %w", code, err)
	}
	refusal, ok := got.message.(*ipc.Error)
	if !ok || refusal.Code != code || got.exchange != 0 {
		return fmt.Errorf("%s instead of error %s on exchange 0", describe(got), code)
	}
	return s.ends()
}

func describe(r *reply) string {
	if refusal, ok := r.message.(*ipc.Error); ok {
		return fmt.Sprintf("error %s (%s) on exchange %d", refusal.Code, refusal.Message, r.exchange)
	}
	return fmt.Sprintf("%s on exchange %d", r.message.Type(), r.exchange)
}
