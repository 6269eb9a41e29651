package ipc

// writeNow has the caller write its own request, which spares it a change of goroutine each way; that is most of the time in which a lone
// request is sent. It returns false where it could wait: while another writes, what the socket has not taken is unsent, or the frame is large.
func (c *Conn) writeNow(cl *call) bool {
	if len(*cl.frame) > bufferSize || !c.writing.TryLock() {
		return false
	}
	defer c.writing.Unlock()
	if c.out.Buffered() > 0 || !c.enter(cl) {
		return false
	}
	defer putFrame(cl.frame)
	setExchange(*cl.frame, cl.exchange)
	n, err := c.now.write(*cl.frame)
	if err != nil {
		c.fail(err)
	} else if n < len(*cl.frame) {
		c.out.Write((*cl.frame)[n:]) // no more than the empty buffer holds
		c.wakeWriter()
	}
	return true
}

func (c *Conn) wakeWriter() {
	select {
	case c.unsent <- struct{}{}:
	default: // it is awake, or will be
	}
}

// writeLoop writes cancels and the requests that their callers do not write, and flushes when none waits, so that a burst shares its
// system calls.
func (c *Conn) writeLoop() {
	c.writing.Lock()
	defer c.writing.Unlock()
	for {
		if err := c.writeNext(); err != nil {
			c.fail(err)
			return
		}
	}
}

func (c *Conn) writeNext() error {
	select {
	case cl := <-c.calls:
		return c.write(cl)
	case exchange := <-c.cancels:
		return c.writeCancel(exchange)
	default:
	}
	if err := c.out.Flush(); err != nil {
		return err
	}
	return c.idle()
}

// idle leaves the writing to callers until one of them leaves it to the writer.
func (c *Conn) idle() error {
	c.writing.Unlock()
	select {
	case cl := <-c.calls:
		c.writing.Lock()
		return c.write(cl)
	case exchange := <-c.cancels:
		c.writing.Lock()
		return c.writeCancel(exchange)
	case <-c.unsent:
		c.writing.Lock()
		return nil
	case <-c.done:
		c.writing.Lock()
		return ErrClosed
	}
}

func (c *Conn) write(cl *call) error {
	defer putFrame(cl.frame)
	if !c.enter(cl) {
		return nil
	}
	setExchange(*cl.frame, cl.exchange)
	_, err := c.out.Write(*cl.frame)
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

func (c *Conn) writeCancel(exchange uint64) error {
	frame, err := AppendFrame(c.out.AvailableBuffer(), exchange, &Cancel{})
	if err != nil {
		return err
	}
	_, err = c.out.Write(frame)
	return err
}
