package ipc

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// smallVectors are the valid vectors that can be tried byte by byte.
func smallVectors(t *testing.T) []vector {
	var small []vector
	for _, v := range readVectors(t) {
		if v.Valid && len(v.Hex) < 4096 {
			small = append(small, v)
		}
	}
	return small
}

func isClass(err error, want Class) bool {
	var fault *ProtocolError
	return errors.As(err, &fault) && fault.Class == want
}

// A stream that ends within a frame is cut; one that ends between frames is not.
func TestStreamCutAtEveryByte(t *testing.T) {
	for _, v := range smallVectors(t) {
		raw := v.bytes(t)
		for n := range raw {
			_, _, err := decodeStream(raw[:n], v.from())
			if n == 0 && err != io.EOF || n > 0 && !isClass(err, ClassTruncated) {
				t.Errorf("%s cut at %d: %v", v.ID, n, err)
			}
		}
	}
}

// A whole frame around a payload that is cut.
func TestPayloadCutAtEveryByte(t *testing.T) {
	for _, v := range smallVectors(t) {
		raw := v.bytes(t)
		for n := headerSize; n < len(raw); n++ {
			cut := bytes.Clone(raw[:n])
			putHeader(cut, v.Decoded.Exchange, Type(raw[12]))
			if _, _, err := decodeStream(cut, v.from()); !isClass(err, ClassTruncated) {
				t.Errorf("%s cut at %d: %v", v.ID, n, err)
			}
		}
	}
}

// The pieces in which a stream arrives change nothing.
func TestStreamInPieces(t *testing.T) {
	for _, from := range []Sender{FromClient, FromTask} {
		var stream []byte
		var want []vector
		for _, v := range smallVectors(t) {
			if v.from() == from {
				stream = append(stream, v.bytes(t)...)
				want = append(want, v)
			}
		}
		for _, r := range []io.Reader{
			bytes.NewReader(stream),
			iotest.OneByteReader(bytes.NewReader(stream)),
			iotest.HalfReader(bytes.NewReader(stream)),
			iotest.DataErrReader(bytes.NewReader(stream)),
		} {
			frames := NewFrameReader(r, from)
			for _, v := range want {
				f, err := frames.Next()
				if err != nil {
					t.Fatalf("%s: %v", v.ID, err)
				}
				m, err := f.Decode()
				if err != nil || !sameMessage(m, v.message(t)) {
					t.Fatalf("%s: %+v, %v", v.ID, m, err)
				}
			}
			if _, err := frames.Next(); err != io.EOF {
				t.Fatalf("behind the last frame: %v", err)
			}
		}
	}
}

func TestStreamFails(t *testing.T) {
	broken := errors.New("cable cut")
	raw := make([]byte, headerSize, headerSize+10)
	raw[0], raw[4], raw[12] = 20, 1, byte(TypePing)
	for _, have := range [][]byte{nil, raw[:7], raw, raw[:headerSize+10]} {
		r := io.MultiReader(bytes.NewReader(have), iotest.ErrReader(broken))
		if _, err := NewFrameReader(r, FromClient).Next(); err != broken {
			t.Errorf("after %d bytes: %v", len(have), err)
		}
	}
}

// A message keeps nothing of the buffer it was decoded from.
func TestDecodedSharesNothing(t *testing.T) {
	for _, v := range smallVectors(t) {
		raw := v.bytes(t)
		f := Frame{Exchange: 1, Type: Type(raw[12]), Payload: raw[headerSize:]}
		m, err := f.Decode()
		if err != nil {
			t.Fatalf("%s: %v", v.ID, err)
		}
		for i := range raw {
			raw[i] = 0xff
		}
		if !sameMessage(m, v.message(t)) {
			t.Errorf("%s changed with its buffer", v.ID)
		}
	}
}

// What a frame claims costs nothing until its bytes are there.
func TestClaimsAreNotAllocated(t *testing.T) {
	f := func(what string, raw []byte) {
		t.Helper()
		if spent := allocatedOver(allocationBound(len(raw)), func() { decodeStream(raw, FromClient) }); spent > 0 {
			t.Errorf("%s: %d bytes cost %d", what, len(raw), spent)
		}
	}
	header := func(length int) []byte {
		frame := make([]byte, headerSize+length)
		putHeader(frame, 1, TypeRank)
		return frame[:headerSize]
	}
	f("frame of 32 MiB", header(MaxPayload))
	f("frame of 32 MiB, a little there", append(header(MaxPayload), strings.Repeat("x", 100_000)...))
	for _, v := range readVectors(t) {
		if v.from() == FromClient {
			f(v.ID, v.bytes(t))
		}
	}
}

// One large frame does not make its reader large for ever.
func TestLargeBufferIsNotKept(t *testing.T) {
	r := &Rank{ID: "r1", Query: strings.Repeat("q", 2*payloadKeep), Truncate: TruncateNone}
	stream, err := AppendFrame(nil, 1, r)
	if err != nil {
		t.Fatal(err)
	}
	stream, _ = AppendFrame(stream, 2, &Ping{})
	frames := NewFrameReader(bytes.NewReader(stream), FromClient)
	for range 2 {
		if _, err := frames.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if cap(frames.buf) > payloadKeep {
		t.Errorf("%d bytes kept after a ping", cap(frames.buf))
	}
}
