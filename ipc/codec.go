package ipc

// Message is one of the messages of PROTOCOL.md, section 4: *Hello, *Welcome, *Rank, *Scores, *Error, *Cancel, *Ping, *Pong, *Goaway.
type Message interface {
	Type() Type
}

// Cancel withdraws the Rank of its exchange.
type Cancel struct{}

// Ping asks for a Pong.
type Ping struct{}

func (*Hello) Type() Type   { return TypeHello }
func (*Welcome) Type() Type { return TypeWelcome }
func (*Rank) Type() Type    { return TypeRank }
func (*Scores) Type() Type  { return TypeScores }
func (*Error) Type() Type   { return TypeError }
func (*Cancel) Type() Type  { return TypeCancel }
func (*Ping) Type() Type    { return TypePing }
func (*Pong) Type() Type    { return TypePong }
func (*Goaway) Type() Type  { return TypeGoaway }

var codecs = [...]interface {
	encode(*encoder, Message)
	decode(*decoder) Message
}{
	TypeHello:   helloFields,
	TypeWelcome: welcomeFields,
	TypeRank:    rankFields,
	TypeScores:  scoresFields,
	TypeError:   errorFields,
	TypeCancel:  cancelFields,
	TypePing:    pingFields,
	TypePong:    pongFields,
	TypeGoaway:  goawayFields,
}

// AppendFrame appends the frame of m to dst. A message that breaks the protocol gives a *ProtocolError and leaves dst as it was.
func AppendFrame(dst []byte, exchange uint64, m Message) ([]byte, error) {
	if err := checkExchange(Frame{Exchange: exchange, Type: m.Type()}); err != nil {
		return dst, err
	}
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	frame, err := e.frame(dst, m)
	if err != nil {
		return dst, err
	}
	putHeader(frame[len(dst):], exchange, m.Type())
	return frame, nil
}

// Decode returns the message of f. It shares no memory with the payload. The error is a *ProtocolError.
func (f Frame) Decode() (Message, error) {
	d := decoders.Get().(*decoder)
	defer decoders.Put(d)
	d.src, d.fault = source{b: f.Payload}, nil
	m := codecs[f.Type].decode(d)
	d.src.b = nil
	if d.fault != nil {
		return nil, d.fault
	}
	return m, nil
}
