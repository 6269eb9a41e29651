package ipc

import "bufio"

// writeLoop writes requests and cancels as they come and flushes when none waits, so that a burst shares its system calls.
func (c *Conn) writeLoop() {
	w := bufio.NewWriterSize(c.nc, bufferSize)
	for {
		if err := c.writeNext(w); err != nil {
			c.fail(err)
			return
		}
	}
}

func (c *Conn) writeNext(w *bufio.Writer) error {
	select {
	case cl := <-c.calls:
		return c.write(w, cl)
	case exchange := <-c.cancels:
		return writeCancel(w, exchange)
	default:
	}
	if err := w.Flush(); err != nil {
		return err
	}
	select {
	case cl := <-c.calls:
		return c.write(w, cl)
	case exchange := <-c.cancels:
		return writeCancel(w, exchange)
	case <-c.done:
		return ErrClosed
	}
}

func (c *Conn) write(w *bufio.Writer, cl *call) error {
	defer putFrame(cl.frame)
	if !c.enter(cl) {
		return nil
	}
	setExchange(*cl.frame, cl.exchange)
	_, err := w.Write(*cl.frame)
	return err
}

// enter gives cl the next exchange and notes that its answer is owed, before a byte of it is written: the answer may be quick. Exchanges are
// given out here and not by the callers, so that they count up on the wire.
func (c *Conn) enter(cl *call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cl.abandoned || c.err != nil {
		return false
	}
	c.last++
	cl.exchange = c.last
	c.pending[cl.exchange] = cl
	return true
}

func writeCancel(w *bufio.Writer, exchange uint64) error {
	frame, err := AppendFrame(w.AvailableBuffer(), exchange, &Cancel{})
	if err != nil {
		return err
	}
	_, err = w.Write(frame)
	return err
}
