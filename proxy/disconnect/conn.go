package disconnect

import (
	"net"
	"sync"
)

// Conn is a watched connection. Requests on one connection follow each other, so at most one is in progress.
type Conn struct {
	net.Conn
	watcher *Watcher
	key     int32

	mu     sync.Mutex
	gone   bool
	cancel func() // of the request in progress, or nil
}

// Begin says that a request starts. cancel is called, once and from another goroutine, if the client leaves before End; it is
// called at once if the client has left already. It must not block.
func (c *Conn) Begin(cancel func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel = cancel
	if c.gone {
		cancel()
	}
}

// End says that the request is over. When it returns, cancel is not running and will not be called.
func (c *Conn) End() {
	c.mu.Lock()
	c.cancel = nil
	c.mu.Unlock()
}

func (c *Conn) hangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	if c.cancel != nil {
		c.cancel()
	}
}

// Close ends the watch and the connection.
func (c *Conn) Close() error {
	c.watcher.forget(c.key)
	return c.Conn.Close()
}
