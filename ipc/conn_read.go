package ipc

import "fmt"

func (c *Conn) readLoop() {
	for {
		frame, err := c.frames.Next()
		if err == nil {
			err = c.take(frame)
		}
		if err != nil {
			c.fail(err)
			return
		}
	}
}

// take handles one frame of the Task. An error ends the connection.
func (c *Conn) take(frame Frame) error {
	if frame.Exchange != 0 {
		return c.takeAnswer(frame)
	}
	m, err := frame.Decode()
	if err != nil {
		return err
	}
	switch m := m.(type) {
	case *Error:
		return m
	case *Goaway:
		c.drain()
		return nil
	}
	return faultf(ClassUnexpected, "%s on an open connection", m.Type())
}

// drain closes draining once; only the reader calls it.
func (c *Conn) drain() {
	select {
	case <-c.draining:
	default:
		close(c.draining)
	}
}

// takeAnswer completes the call of the frame. If the answer is wrong the call still ends with a clear error, and so does the connection:
// a Task that mixes up answers cannot be trusted with the others.
func (c *Conn) takeAnswer(frame Frame) error {
	m, err := frame.Decode()
	c.mu.Lock()
	defer c.mu.Unlock()
	cl := c.leave(frame.Exchange)
	if cl == nil {
		return faultf(ClassUnknownExchange, "%s for exchange %d, which waits for nothing", frame.Type, frame.Exchange)
	}
	if err == nil {
		if fault := cl.check(m); fault != nil {
			err = fault
		}
	}
	if err != nil {
		cl.reply <- &Error{Code: CodeBackendFailed, Message: fmt.Sprintf("the Task's answer is unusable: %v", err)}
		return err
	}
	if e, ok := m.(*Error); ok {
		e.settle()
	}
	cl.reply <- m
	return nil
}

// leave takes the call of an exchange out of pending.
func (c *Conn) leave(exchange uint64) *call {
	cl := c.pending[exchange]
	delete(c.pending, exchange)
	if cl != nil && cl.abandoned {
		c.abandoned--
	}
	return cl
}

// settle turns a code of a later minor version into one this version knows.
func (e *Error) settle() {
	switch e.Code {
	case CodeInvalidRequest, CodeInputTooLong, CodeBackendRejectedRequest, CodeServerBusy, CodeBackendUnavailable, CodeBackendFailed,
		CodeDeadlineExceeded, CodeCancelled, CodeProtocolError, CodeUnsupportedVersion:
	default:
		e.Message = fmt.Sprintf("%s: %s", e.Code, e.Message)
		e.Code = CodeBackendFailed
	}
}
