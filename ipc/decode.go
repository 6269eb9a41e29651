package ipc

import (
	"encoding/binary"
	"io"
	"iter"
	"math"
	"sync"
	"unicode/utf8"

	"github.com/vmihailenco/msgpack/v5"
)

// source is a payload read so far. The msgpack decoder reads it without a buffer of its own, so that what remains is known exactly.
type source struct {
	b   []byte
	off int
}

func (s *source) remaining() int { return len(s.b) - s.off }

func (s *source) Read(p []byte) (int, error) {
	if s.remaining() == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.b[s.off:])
	s.off += n
	return n, nil
}

func (s *source) ReadByte() (byte, error) {
	if s.remaining() == 0 {
		return 0, io.EOF
	}
	s.off++
	return s.b[s.off-1], nil
}

func (s *source) UnreadByte() error {
	s.off--
	return nil
}

// decoder reads the values of one payload. After the first fault, which it keeps, every read returns a zero value.
//
// The msgpack package decodes single values here, never containers: it neither bounds them nor minds their types.
type decoder struct {
	src   source
	mp    *msgpack.Decoder
	key   string // of the field being read
	fault *ProtocolError
}

var decoders = sync.Pool{New: func() any {
	d := &decoder{}
	d.mp = msgpack.NewDecoder(&d.src)
	return d
}}

func (d *decoder) fail(fault *ProtocolError) {
	if d.fault == nil && fault != nil {
		d.fault = fault.in(d.key)
	}
}

func (d *decoder) failf(class Class, format string, args ...any) {
	if d.fault == nil {
		d.fail(faultf(class, format, args...))
	}
}

// next returns the kind of the next value if it is one that may stand everywhere.
func (d *decoder) next() (kind, bool) {
	if d.fault != nil {
		return 0, false
	}
	code, err := d.mp.PeekCode()
	if err != nil {
		d.failf(ClassTruncated, "payload ends before a value")
		return 0, false
	}
	k := kindOf(code)
	switch k {
	case kindExt:
		d.failf(ClassExt, "ext type, code %#x", code)
	case kindInvalid:
		d.failf(ClassBadMsgpack, "code %#x", code)
	}
	return k, d.fault == nil
}

// expect tells whether the next value is of kind want, and fails if not.
func (d *decoder) expect(want kind) bool {
	k, ok := d.next()
	if ok && k != want {
		d.failf(ClassWrongType, "%s instead of %s", k, want)
	}
	return d.fault == nil
}

// done takes the error of a value read by the msgpack package, whose code was checked before: it can only have been cut.
func (d *decoder) done(err error) bool {
	if err != nil {
		d.failf(ClassTruncated, "payload ends within a value")
	}
	return d.fault == nil
}

func (d *decoder) boolean() bool {
	if !d.expect(kindBool) {
		return false
	}
	v, err := d.mp.DecodeBool()
	d.done(err)
	return v
}

// uint reads an integer of any width within [low, high].
func (d *decoder) uint(low, high uint64) uint64 {
	k, ok := d.next()
	if !ok {
		return 0
	}
	if k != kindUint && k != kindInt {
		d.failf(ClassWrongType, "%s instead of %s", k, kindUint)
		return 0
	}
	v, err := d.mp.DecodeInt64() // the same bits for a uint64
	if !d.done(err) {
		return 0
	}
	if k == kindInt && v < 0 || uint64(v) < low || uint64(v) > high {
		d.failf(ClassOutOfRange, "integer outside %d to %d", low, high)
		return 0
	}
	return uint64(v)
}

// bytes returns the bytes of a str or bin of at most limit bytes, without copying them.
func (d *decoder) bytes(want kind, limit int) []byte {
	if !d.expect(want) {
		return nil
	}
	n, err := d.mp.DecodeBytesLen()
	if !d.done(err) {
		return nil
	}
	if n > d.src.remaining() {
		d.failf(ClassTruncated, "%s of %d bytes, %d remain", want, n, d.src.remaining())
		return nil
	}
	if n > limit {
		d.failf(ClassTooLong, "%s of %d bytes, at most %d", want, n, limit)
		return nil
	}
	d.src.off += n
	return d.src.b[d.src.off-n : d.src.off]
}

func (d *decoder) text(rule textRule) string {
	s := string(d.bytes(kindStr, rule.limit))
	d.fail(rule.check(s))
	return s
}

// packed returns the bytes of a packed array of 4-byte elements.
func (d *decoder) packed() []byte {
	b := d.bytes(kindBin, MaxPayload)
	if len(b)%4 != 0 {
		d.failf(ClassBadLength, "packed array of %d bytes", len(b))
	}
	if len(b)/4 > MaxPassages {
		d.failf(ClassTooMany, "packed array of %d elements, at most %d", len(b)/4, MaxPassages)
	}
	if d.fault != nil {
		return nil
	}
	return b
}

// packedF32 reads finite numbers.
func (d *decoder) packedF32() []float32 {
	b := d.packed()
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		if !finite(v[i]) {
			d.failf(ClassNotFinite, "element %d", i)
			return nil
		}
	}
	return v
}

func (d *decoder) packedU32() []uint32 {
	b := d.packed()
	v := make([]uint32, len(b)/4)
	for i := range v {
		v[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return v
}

// array returns the number of elements of an array that can hold at most limit. Each takes at least a byte, so a count beyond what remains is a
// cut payload.
func (d *decoder) array(limit int) int {
	if !d.expect(kindArray) {
		return 0
	}
	n, err := d.mp.DecodeArrayLen()
	return d.count(n, err, limit, 1)
}

func (d *decoder) count(n int, err error, limit, size int) int {
	if !d.done(err) {
		return 0
	}
	if n > limit {
		d.failf(ClassTooMany, "%d elements, at most %d", n, limit)
		return 0
	}
	if n*size > d.src.remaining() {
		d.failf(ClassTruncated, "%d elements in %d bytes", n, d.src.remaining())
		return 0
	}
	return n
}

// entries walks over the keys of a map; the loop's body must read or skip the value. A key is valid until the payload is.
func (d *decoder) entries() iter.Seq[[]byte] {
	return func(yield func(key []byte) bool) {
		if !d.expect(kindMap) {
			return
		}
		n, err := d.mp.DecodeMapLen()
		n = d.count(n, err, maxEntries, 2)
		var seen [maxEntries][]byte
		for i := range n {
			seen[i] = d.readKey(seen[:i])
			if d.fault != nil || !yield(seen[i]) || d.fault != nil {
				return
			}
		}
	}
}

// readKey reads a key that is none of seen.
func (d *decoder) readKey(seen [][]byte) []byte {
	key := d.bytes(kindStr, maxKey)
	if !utf8.Valid(key) {
		d.failf(ClassBadUTF8, "key")
	}
	for _, other := range seen {
		if string(key) == string(other) {
			d.failf(ClassDuplicateKey, "key %q", key)
		}
	}
	return key
}

// skip reads a value of any type but ext, at the given nesting depth, within the limits.
func (d *decoder) skip(depth int) {
	k, ok := d.next()
	if !ok {
		return
	}
	if (k == kindArray || k == kindMap) && depth > maxDepth {
		d.failf(ClassDepth, "more than %d levels", maxDepth)
		return
	}
	switch k {
	case kindArray:
		for range d.array(maxElements) {
			d.skip(depth + 1)
		}
	case kindMap:
		for range d.entries() {
			d.skip(depth + 1)
		}
	case kindStr:
		if !utf8.Valid(d.bytes(kindStr, MaxPayload)) {
			d.failf(ClassBadUTF8, "skipped string")
		}
	case kindBin:
		d.bytes(kindBin, MaxPayload)
	default:
		d.done(d.mp.Skip())
	}
}
