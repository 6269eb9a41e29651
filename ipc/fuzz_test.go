package ipc

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"
	"testing/iotest"
)

func FuzzDecodeClient(f *testing.F) { fuzzDecode(f, FromClient) }

func FuzzDecodeTask(f *testing.F) { fuzzDecode(f, FromTask) }

// fuzzDecode holds for any bytes: no panic; an error is a ProtocolError; memory is in proportion to the bytes; what was understood can be said
// again and means the same.
func fuzzDecode(f *testing.F, from Sender) {
	seed(f, func(v vector) bool { return v.from() == from })
	f.Fuzz(func(t *testing.T, raw []byte) {
		var frame Frame
		var m Message
		var err error
		if spent := allocatedOver(allocationBound(len(raw)), func() { frame, m, err = decodeStream(raw, from) }); spent > 0 {
			t.Fatalf("%d bytes cost %d", len(raw), spent)
		}
		var fault *ProtocolError
		if err != nil {
			if !errors.As(err, &fault) && err != io.EOF {
				t.Fatalf("not a ProtocolError: %v", err)
			}
			return
		}
		if w := weight(reflect.ValueOf(m)); w > 24*len(raw)+512 {
			t.Fatalf("%d bytes became %d", len(raw), w)
		}
		again, err := AppendFrame(nil, frame.Exchange, m)
		if err != nil {
			t.Fatalf("decoded but not encodable: %+v: %v", m, err)
		}
		_, back, err := decodeStream(again, from)
		if err != nil || !sameMessage(back, normal(m)) {
			t.Fatalf("%v\ngot  %+v\nwant %+v", err, back, m)
		}
	})
}

// normal drops what has no meaning: the other token fields of a message without pair_tokens.
func normal(m Message) Message {
	if s, ok := m.(*Scores); ok && !s.HasTokens {
		s.Truncated, s.PaddingTokens = 0, 0
	}
	return m
}

// FuzzFrame holds for any stream: the same frames, however it arrives, and no payload that was not there.
func FuzzFrame(f *testing.F) {
	seed(f, func(vector) bool { return true })
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, from := range []Sender{FromClient, FromTask} {
			whole, wholeErr := readFrames(bytes.NewReader(raw), from)
			pieces, piecesErr := readFrames(iotest.OneByteReader(bytes.NewReader(raw)), from)
			if !reflect.DeepEqual(whole, pieces) || !reflect.DeepEqual(wholeErr, piecesErr) {
				t.Fatalf("%v, %v\nbyte by byte %v, %v", whole, wholeErr, pieces, piecesErr)
			}
			total := 0
			for _, f := range whole {
				total += headerSize + len(f.Payload)
			}
			if total > len(raw) || (wholeErr == io.EOF) != (total == len(raw)) {
				t.Fatalf("%d bytes in frames of %d, then %v", total, len(raw), wholeErr)
			}
		}
	})
}

func readFrames(r io.Reader, from Sender) ([]Frame, error) {
	frames := NewFrameReader(r, from)
	var all []Frame
	for {
		f, err := frames.Next()
		if err != nil {
			return all, err
		}
		f.Payload = bytes.Clone(f.Payload)
		all = append(all, f)
	}
}

func seed(f *testing.F, wanted func(vector) bool) {
	for _, v := range readVectors(f) {
		if wanted(v) && len(v.Hex) < 64<<10 {
			f.Add(v.bytes(f))
		}
	}
}
