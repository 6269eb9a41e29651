package ipc

import (
	"encoding/binary"
	"io"
)

// Type is the type byte of a frame (PROTOCOL.md, section 4).
type Type uint8

const (
	TypeHello Type = iota + 1
	TypeWelcome
	TypeRank
	TypeScores
	TypeError
	TypeCancel
	TypePing
	TypePong
	TypeGoaway
)

// Sender is a side of a connection.
type Sender uint8

const (
	FromClient Sender = iota
	FromTask
)

func (s Sender) String() string {
	if s == FromClient {
		return "client"
	}
	return "task"
}

// exchangeRule says which exchange a type of frame may carry.
type exchangeRule uint8

const (
	ofConnection exchangeRule = iota // 0
	ofRequest                        // not 0
	ofEither
)

// frameTypes is the table of PROTOCOL.md, section 4.
var frameTypes = [...]struct {
	name     string
	from     Sender
	exchange exchangeRule
}{
	TypeHello:   {"hello", FromClient, ofConnection},
	TypeWelcome: {"welcome", FromTask, ofConnection},
	TypeRank:    {"rank", FromClient, ofRequest},
	TypeScores:  {"scores", FromTask, ofRequest},
	TypeError:   {"error", FromTask, ofEither},
	TypeCancel:  {"cancel", FromClient, ofRequest},
	TypePing:    {"ping", FromClient, ofRequest},
	TypePong:    {"pong", FromTask, ofRequest},
	TypeGoaway:  {"goaway", FromTask, ofConnection},
}

func (t Type) known() bool { return t >= TypeHello && t <= TypeGoaway }

func (t Type) String() string {
	if !t.known() {
		return "unknown"
	}
	return frameTypes[t].name
}

const headerSize = 16

// Frame is one frame whose header is valid.
type Frame struct {
	Exchange uint64
	Type     Type
	Payload  []byte // one MessagePack map, not looked at yet
}

// parseHeader checks everything a header alone can break.
func parseHeader(h *[headerSize]byte, from Sender) (f Frame, length int, err error) {
	n := binary.LittleEndian.Uint32(h[0:])
	f = Frame{Exchange: binary.LittleEndian.Uint64(h[4:]), Type: Type(h[12])}
	switch {
	case n > MaxPayload:
		return f, 0, faultf(ClassFrameTooLarge, "payload of %d bytes, at most %d", n, MaxPayload)
	case h[13] != 0 || h[14] != 0 || h[15] != 0:
		return f, 0, faultf(ClassBadFlags, "flags %#x, reserved %#x%02x", h[13], h[15], h[14])
	case !f.Type.known():
		return f, 0, faultf(ClassUnknownType, "type %d", h[12])
	case frameTypes[f.Type].from != from:
		return f, 0, faultf(ClassWrongDirection, "%s from the %s", f.Type, from)
	}
	return f, int(n), checkExchange(f)
}

func checkExchange(f Frame) error {
	rule := frameTypes[f.Type].exchange
	if rule == ofConnection && f.Exchange != 0 || rule == ofRequest && f.Exchange == 0 {
		return faultf(ClassBadExchange, "%s on exchange %d", f.Type, f.Exchange)
	}
	return nil
}

// putHeader fills the header at the start of frame, whose payload is already behind it.
func putHeader(frame []byte, exchange uint64, t Type) {
	binary.LittleEndian.PutUint32(frame[0:], uint32(len(frame)-headerSize))
	binary.LittleEndian.PutUint64(frame[4:], exchange)
	frame[12], frame[13], frame[14], frame[15] = byte(t), 0, 0, 0
}

// setExchange changes the exchange of an encoded frame.
func setExchange(frame []byte, exchange uint64) {
	binary.LittleEndian.PutUint64(frame[4:], exchange)
}

const (
	payloadStep = 64 << 10 // first allocation for a payload; more only as its bytes arrive
	payloadKeep = 1 << 20  // a larger buffer is not kept for the next frame
)

// FrameReader reads frames of one side from a stream.
type FrameReader struct {
	r    io.Reader
	from Sender
	buf  []byte
}

// NewFrameReader returns a reader of the frames that from sends. It reads no byte beyond the frame asked for; give it a buffered r.
func NewFrameReader(r io.Reader, from Sender) *FrameReader {
	return &FrameReader{r: r, from: from}
}

// Next returns the next frame. Its payload is valid until the call after. The error is io.EOF if the stream ends between frames, a
// *ProtocolError if the peer broke a rule, else what the stream returned.
func (fr *FrameReader) Next() (Frame, error) {
	var header [headerSize]byte
	if n, err := io.ReadFull(fr.r, header[:]); err == io.EOF {
		return Frame{}, io.EOF
	} else if err != nil {
		return Frame{}, cut(err, n, headerSize)
	}
	f, length, err := parseHeader(&header, fr.from)
	if err != nil {
		return f, err
	}
	f.Payload, err = fr.payload(length)
	return f, err
}

// payload reads length bytes. The buffer at most doubles with what has arrived, so that a header cannot claim memory.
func (fr *FrameReader) payload(length int) ([]byte, error) {
	buf := fr.buf[:0]
	if cap(buf) > payloadKeep {
		buf = nil
	}
	for len(buf) < length {
		have := len(buf)
		step := min(length-have, max(cap(buf)-have, have, payloadStep))
		buf = append(buf, make([]byte, step)...)
		if n, err := io.ReadFull(fr.r, buf[have:]); err != nil {
			return nil, cut(err, have+n, length)
		}
	}
	fr.buf = buf
	return buf, nil
}

// cut names the end of the stream within a frame; other errors stay as they are.
func cut(err error, have, want int) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return faultf(ClassTruncated, "stream ends after %d of %d bytes", have, want)
	}
	return err
}
