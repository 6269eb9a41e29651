package ipc

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"time"
)

const bufferSize = 64 << 10

// Dial connects to the Task at address, a socket path or "@" and an abstract name, and greets it as clientName (name and version, for the
// Task's log). It is bounded by ctx. The error is an *Error if the Task refused, such as with unsupported_version.
func Dial(ctx context.Context, address, clientName string) (*Conn, error) {
	if n := len(strings.TrimPrefix(address, "@")); n == 0 || n > maxPath {
		return nil, fmt.Errorf("connect to Task: socket name of %d bytes, want 1 to %d: %q", n, maxPath, address)
	}
	var dialer net.Dialer
	nc, err := dialer.DialContext(ctx, "unix", address)
	if err != nil {
		return nil, fmt.Errorf("connect to Task: %w", err)
	}
	r := bufio.NewReaderSize(nc, bufferSize)
	frames := NewFrameReader(r, FromTask)
	welcome, err := greet(ctx, nc, frames, clientName)
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("greet Task at %s: %w", address, err)
	}
	now, err := newInstant(nc)
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("connect to Task: %w", err)
	}
	return newConn(nc, now, frames, welcome), nil
}

// greet sends hello and waits for welcome.
func greet(ctx context.Context, nc net.Conn, frames *FrameReader, clientName string) (*Welcome, error) {
	stop := context.AfterFunc(ctx, func() { nc.SetDeadline(time.Unix(1, 0)) })
	welcome, err := exchangeHello(nc, frames, clientName)
	if !stop() {
		return nil, ctx.Err()
	}
	return welcome, err
}

func exchangeHello(nc net.Conn, frames *FrameReader, clientName string) (*Welcome, error) {
	hello, err := AppendFrame(nil, 0, &Hello{Protocol: ProtocolVersion, Client: clientName})
	if err != nil {
		return nil, err
	}
	if _, err := nc.Write(hello); err != nil {
		return nil, err
	}
	frame, err := frames.Next()
	if err != nil {
		return nil, err
	}
	m, err := frame.Decode()
	if err != nil {
		return nil, err
	}
	return asWelcome(m)
}

func asWelcome(m Message) (*Welcome, error) {
	switch m := m.(type) {
	case *Error:
		return nil, m
	case *Welcome:
		if m.Protocol != ProtocolVersion {
			return nil, &Error{Code: CodeUnsupportedVersion, Message: fmt.Sprintf("the Task speaks version %d, not %d", m.Protocol, ProtocolVersion)}
		}
		return m, nil
	}
	return nil, faultf(ClassUnexpected, "%s instead of welcome", m.Type())
}
