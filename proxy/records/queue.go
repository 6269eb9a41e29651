package records

import "sync"

// queue holds records that wait for the writer, bounded by the memory they hold on to.
type queue struct {
	bound  int
	urgent chan struct{} // the writer should not wait any longer for more to come

	mu      sync.Mutex
	arrived sync.Cond // something to do for the writer
	room    sync.Cond
	waiting []*Record
	weight  int
	reopen  bool
	closed  bool
}

func newQueue(bound int) *queue {
	q := &queue{bound: bound, urgent: make(chan struct{}, 1)}
	q.arrived.L, q.room.L = &q.mu, &q.mu
	return q
}

// put adds r. Without room it waits if it may, else it reports false. A record too large for any queue waits for an empty one.
// After close there is no room and no waiting.
func (q *queue) put(r *Record, wait bool) bool {
	weight := r.weight()
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && q.weight > 0 && q.weight+weight > q.bound {
		q.hurry()
		if !wait {
			return false
		}
		q.room.Wait()
	}
	if q.closed {
		return false
	}
	q.waiting = append(q.waiting, r)
	q.weight += weight
	if len(q.waiting) == 1 {
		q.arrived.Signal()
	}
	return true
}

func (q *queue) hurry() {
	select {
	case q.urgent <- struct{}{}:
	default:
	}
}

// work is what the writer is to do next.
type work struct {
	records []*Record
	reopen  bool // first
	last    bool // nothing will follow
}

// take waits for work. The records count against the bound until done. spare is an earlier batch's slice, to be used again.
func (q *queue) take(spare []*Record) work {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) == 0 && !q.reopen && !q.closed {
		q.arrived.Wait()
	}
	w := work{records: q.waiting, reopen: q.reopen, last: q.closed}
	q.waiting, q.reopen = spare[:0], false
	return w
}

// done makes room for as much as has been written.
func (q *queue) done(weight int) {
	q.mu.Lock()
	q.weight -= weight
	q.mu.Unlock()
	q.room.Broadcast()
}

func (q *queue) askReopen() {
	q.mu.Lock()
	q.reopen = true
	q.mu.Unlock()
	q.arrived.Signal()
	q.hurry()
}

func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.arrived.Signal()
	q.hurry()
	q.room.Broadcast()
}
