package ipc

import "sync"

// call is one request, from its encoding to its answer or its end without one.
//
// It belongs to its caller until it is entered in Conn.pending or the writer takes it from Conn.calls. From then on the fields below mu's line are guarded by Conn.mu.
type call struct {
	frame *[]byte      // encoded; the exchange is filled in when it is written
	reply chan Message // gets at most one, and has room for it

	id       string // of the rank, empty for a ping
	passages int    // of the rank
	want     Type   // of the answer, if it is not an error

	// Guarded by Conn.mu.
	exchange  uint64 // 0: not written
	abandoned bool   // the caller has left; the answer is owed all the same
}

// check compares an answer with what was asked.
func (c *call) check(m Message) *ProtocolError {
	if e, ok := m.(*Error); ok {
		return c.checkID(e.ID, e.ID == "")
	}
	if m.Type() != c.want {
		return faultf(ClassUnexpected, "%s as the answer, want %s", m.Type(), c.want)
	}
	if s, ok := m.(*Scores); ok {
		return c.checkScores(s)
	}
	return nil
}

func (c *call) checkScores(s *Scores) *ProtocolError {
	if fault := c.checkID(s.ID, false); fault != nil {
		return fault
	}
	if len(s.Scores) != c.passages {
		return faultf(ClassCountMismatch, "%d scores for %d passages", len(s.Scores), c.passages)
	}
	return nil
}

// checkID does not look at the id of an abandoned call: its caller may use that memory again.
func (c *call) checkID(id string, absent bool) *ProtocolError {
	if absent || c.abandoned || id == c.id {
		return nil
	}
	return faultf(ClassIDMismatch, "the answer carries the id %s", id)
}

// frames holds buffers for encoded requests. One that grew large is dropped instead of returned.
var frames = sync.Pool{New: func() any { return new([]byte) }}

func putFrame(b *[]byte) {
	if cap(*b) <= payloadKeep {
		*b = (*b)[:0]
		frames.Put(b)
	}
}
