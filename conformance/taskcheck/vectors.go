package taskcheck

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"trtmc-ranking-proxy/ipc"
)

// vector is what this package needs of an entry of conformance/vectors.
type vector struct {
	ID        string `json:"id"`
	Comment   string `json:"comment"`
	Direction string `json:"direction"`
	Hex       string `json:"hex"`
	Valid     bool   `json:"valid"`
	raw       []byte
}

const headerSize = 16

// loadVectors reads the vectors that a client sends. Finding none is an error.
func loadVectors(files fs.FS) (vectors []vector, err error) {
	names, err := fs.Glob(files, "*.json")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		var some []vector
		if err := json.Unmarshal(data, &some); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, v := range some {
			if v.raw, err = hex.DecodeString(v.Hex); err != nil {
				return nil, fmt.Errorf("%s: vector %s: %w", name, v.ID, err)
			}
			if v.Direction == ipc.FromClient.String() {
				vectors = append(vectors, v)
			}
		}
	}
	if len(vectors) == 0 {
		return nil, errors.New("no vectors found")
	}
	return vectors, nil
}

// try sends the vector on a connection of its own.
func (v *vector) try(socket string) error {
	s, err := v.open(socket)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.write(v.raw); err != nil {
		return err
	}
	switch {
	case v.incomplete():
		return v.abandoned(s)
	case !v.Valid:
		return s.refused(ipc.CodeProtocolError)
	}
	return v.answered(s)
}

// open greets first, except for the vectors that are a hello.
func (v *vector) open(socket string) (*session, error) {
	if len(v.raw) > 12 && ipc.Type(v.raw[12]) == ipc.TypeHello {
		return dial(socket)
	}
	s, _, err := greeted(socket)
	return s, err
}

// incomplete tells a frame whose end never comes from one that is wrong by itself.
func (v *vector) incomplete() bool {
	if len(v.raw) < headerSize {
		return true
	}
	length := binary.LittleEndian.Uint32(v.raw)
	return length <= ipc.MaxPayload && len(v.raw) < headerSize+int(length)
}

// abandoned ends the stream in the middle of the frame: the client has left, which the Task may call a protocol error first.
func (v *vector) abandoned(s *session) error {
	if err := s.closeWrite(); err != nil {
		return err
	}
	got, err := s.next()
	if err != nil {
		return isEnd(err)
	}
	if refusal, ok := got.message.(*ipc.Error); ok && refusal.Code == ipc.CodeProtocolError && got.exchange == 0 {
		return s.ends()
	}
	return fmt.Errorf("%s for half a frame", describe(got))
}

// answered checks the answer to a valid vector by its type.
func (v *vector) answered(s *session) error {
	frame := ipc.Frame{Exchange: binary.LittleEndian.Uint64(v.raw[4:]), Type: ipc.Type(v.raw[12]), Payload: v.raw[headerSize:]}
	message, err := frame.Decode()
	if err != nil {
		return fmt.Errorf("the vector itself does not decode: %w", err)
	}
	switch m := message.(type) {
	case *ipc.Hello:
		return helloAnswered(s, m)
	case *ipc.Ping:
		return pongComes(s, frame.Exchange)
	case *ipc.Rank:
		return rankAnswered(s, frame.Exchange, m)
	case *ipc.Cancel: // of an unknown exchange: ignored, and the connection lives on
		if err := s.send(1, &ipc.Ping{}); err != nil {
			return err
		}
		return pongComes(s, 1)
	}
	return fmt.Errorf("no rule for a %s", message.Type())
}

func helloAnswered(s *session, hello *ipc.Hello) error {
	if hello.Protocol != ipc.ProtocolVersion {
		return s.refused(ipc.CodeUnsupportedVersion)
	}
	got, err := s.next()
	if err != nil {
		return err
	}
	if _, ok := got.message.(*ipc.Welcome); !ok {
		return fmt.Errorf("%s instead of welcome", describe(got))
	}
	return nil
}

func pongComes(s *session, exchange uint64) error {
	got, err := s.next()
	if err != nil {
		return fmt.Errorf("no pong: %w", err)
	}
	if _, ok := got.message.(*ipc.Pong); !ok || got.exchange != exchange {
		return fmt.Errorf("%s instead of pong on exchange %d", describe(got), exchange)
	}
	return nil
}

// rankAnswered accepts scores, or a refusal that leaves the connection alive, and then nothing more.
func rankAnswered(s *session, exchange uint64, rank *ipc.Rank) error {
	got, err := s.next()
	if err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	if err := fits(got, exchange, rank); err != nil {
		return err
	}
	return s.silent()
}

// fits checks one answer against its rank.
func fits(got *reply, exchange uint64, rank *ipc.Rank) error {
	if got.exchange != exchange {
		return fmt.Errorf("%s, want exchange %d", describe(got), exchange)
	}
	switch m := got.message.(type) {
	case *ipc.Scores:
		if m.ID != rank.ID || len(m.Scores) != len(rank.Passages) {
			return fmt.Errorf("%d scores with id %q for %d passages with id %q", len(m.Scores), m.ID, len(rank.Passages), rank.ID)
		}
		return nil
	case *ipc.Error:
		if m.ID != "" && m.ID != rank.ID {
			return fmt.Errorf("error with id %q, want %q", m.ID, rank.ID)
		}
		if m.Code == ipc.CodeProtocolError || m.Code == ipc.CodeUnsupportedVersion {
			return fmt.Errorf("%s for a valid rank", describe(got))
		}
		return nil
	}
	return fmt.Errorf("%s for a rank", describe(got))
}
