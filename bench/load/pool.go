package load

import "sync"

// pool lends connections, the one used last first, so that a low rate keeps few of them warm. take waits while all are lent, first come
// first served.
type pool struct {
	places chan struct{}
	mu     sync.Mutex
	free   []*conn
}

func newPool(target Target, n int) *pool {
	p := &pool{places: make(chan struct{}, n)}
	for range n {
		p.free = append(p.free, &conn{target: target})
	}
	return p
}

func (p *pool) take() *conn {
	p.places <- struct{}{}
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.free) - 1
	c := p.free[last]
	p.free = p.free[:last]
	return c
}

func (p *pool) give(c *conn) {
	p.mu.Lock()
	p.free = append(p.free, c)
	p.mu.Unlock()
	<-p.places
}

func (p *pool) close() {
	for _, c := range p.free {
		c.close()
	}
}
