package ipc

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/vmihailenco/msgpack/v5"
)

// sink is the frame written so far.
type sink struct{ b []byte }

func (s *sink) Write(p []byte) (int, error) {
	s.b = append(s.b, p...)
	return len(p), nil
}

func (s *sink) WriteByte(c byte) error {
	s.b = append(s.b, c)
	return nil
}

// encoder writes the values of one payload, each in its shortest form. It keeps to the rules a decoder checks: the first fault
// stays, and makes the frame worthless. The sink never fails, so errors of the msgpack package cannot happen.
type encoder struct {
	dst   sink
	mp    *msgpack.Encoder
	key   string // of the field being written
	fault *ProtocolError
}

var encoders = sync.Pool{New: func() any {
	e := &encoder{}
	e.mp = msgpack.NewEncoder(&e.dst)
	return e
}}

func (e *encoder) fail(fault *ProtocolError) {
	if e.fault == nil && fault != nil {
		e.fault = fault.in(e.key)
	}
}

// frame appends room for a header and the payload of m to dst.
func (e *encoder) frame(dst []byte, m Message) ([]byte, error) {
	e.key, e.fault = "", nil
	e.dst.b = append(dst, make([]byte, headerSize)...)
	codecs[m.Type()].encode(e, m)
	frame := e.dst.b
	e.dst.b = nil
	if n := len(frame) - len(dst) - headerSize; n > MaxPayload {
		return nil, faultf(ClassFrameTooLarge, "payload of %d bytes, at most %d", n, MaxPayload)
	}
	if e.fault != nil {
		return nil, e.fault
	}
	return frame, nil
}

func (e *encoder) boolean(v bool) { e.mp.EncodeBool(v) }

func (e *encoder) uint(v, low, high uint64) {
	if v < low || v > high {
		e.fail(faultf(ClassOutOfRange, "%d outside %d to %d", v, low, high))
	}
	e.mp.EncodeUint(v)
}

func (e *encoder) text(s string, rule textRule) {
	e.fail(rule.check(s))
	e.mp.EncodeString(s)
}

func (e *encoder) array(n, limit int) {
	if n > limit {
		e.fail(faultf(ClassTooMany, "%d elements, at most %d", n, limit))
	}
	e.mp.EncodeArrayLen(n)
}

func (e *encoder) packedF32(v []float32) {
	e.packed(len(v))
	for i, f := range v {
		if !finite(f) {
			e.fail(faultf(ClassNotFinite, "element %d", i))
		}
		e.dst.b = binary.LittleEndian.AppendUint32(e.dst.b, math.Float32bits(f))
	}
}

func (e *encoder) packedU32(v []uint32) {
	e.packed(len(v))
	for _, n := range v {
		e.dst.b = binary.LittleEndian.AppendUint32(e.dst.b, n)
	}
}

func (e *encoder) packed(n int) {
	if n > MaxPassages {
		e.fail(faultf(ClassTooMany, "packed array of %d elements, at most %d", n, MaxPassages))
	}
	e.mp.EncodeBytesLen(4 * n)
}

// mapOf writes a map with its keys in byte order.
func mapOf[V any](e *encoder, m map[string]V, value func(V)) {
	if len(m) > maxEntries {
		e.fail(faultf(ClassTooMany, "map of %d entries, at most %d", len(m), maxEntries))
		return
	}
	e.mp.EncodeMapLen(len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		e.text(k, textRule{limit: maxKey})
		value(m[k])
	}
}
