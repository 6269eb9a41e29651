package client

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

// chunkPause stands between chunks, so that they arrive apart.
const chunkPause = 20 * time.Millisecond

// Conversation is all that came back on one raw connection.
type Conversation struct {
	Answers []*Answer // final ones, in order
	Invited bool      // a 100 Continue came
	Closed  bool      // by the server
}

// Abandon writes the chunks to a fresh connection and closes it at once.
func (t *Target) Abandon(ctx context.Context, chunks [][]byte) error {
	conn, err := t.dial(ctx)
	if err != nil {
		return err
	}
	writeChunks(conn, chunks, false)
	return conn.Close()
}

// Hold writes the chunks to a fresh connection and keeps it open, without reading, until ctx ends.
func (t *Target) Hold(ctx context.Context, chunks [][]byte) error {
	conn, err := t.dial(ctx)
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { conn.Close() })
	writeChunks(conn, chunks, false)
	return nil
}

// Raw writes the chunks to a fresh connection and reads until the server closes it or falls silent.
func (t *Target) Raw(ctx context.Context, chunks [][]byte, closeWrite bool) (*Conversation, error) {
	conn, err := t.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	written := make(chan struct{})
	go func() {
		defer close(written)
		writeChunks(conn, chunks, closeWrite)
	}()
	talk, err := t.listen(conn)
	conn.Close()
	<-written
	return talk, err
}

func (t *Target) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	host := t.Base.Host
	if t.Base.Port() == "" {
		host = net.JoinHostPort(t.Base.Hostname(), t.Base.Scheme)
	}
	if t.Base.Scheme == "https" {
		return new(tls.Dialer).DialContext(ctx, "tcp", host)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", host)
}

// writeChunks ignores errors: a server that refuses early may close before everything is written.
func writeChunks(conn net.Conn, chunks [][]byte, closeWrite bool) {
	for i, chunk := range chunks {
		if i > 0 {
			time.Sleep(chunkPause)
		}
		if _, err := conn.Write(chunk); err != nil {
			return
		}
	}
	if half, ok := conn.(interface{ CloseWrite() error }); ok && closeWrite {
		_ = half.CloseWrite()
	}
}

func (t *Target) listen(conn net.Conn) (*Conversation, error) {
	talk := new(Conversation)
	reader := bufio.NewReader(conn)
	_ = conn.SetReadDeadline(time.Now().Add(t.FirstAnswer))
	for {
		answer, err := readAnswer(reader)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return talk, nil
		case isClosing(err):
			talk.Closed = true
			return talk, nil
		case err != nil:
			return talk, fmt.Errorf("what came back is not HTTP: %w", err)
		case answer.Status == http.StatusContinue:
			talk.Invited = true
		default:
			talk.Answers = append(talk.Answers, answer)
		}
		_ = conn.SetReadDeadline(time.Now().Add(t.Quiet))
	}
}

func readAnswer(reader *bufio.Reader) (*Answer, error) {
	if _, err := reader.Peek(1); err != nil {
		return nil, err
	}
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var body bytes.Buffer
	if _, err := io.Copy(&body, io.LimitReader(response.Body, answerMax)); err != nil {
		return nil, err
	}
	return &Answer{Status: response.StatusCode, Header: response.Header, Body: body.Bytes()}, nil
}

// isClosing tells an orderly close or a reset, both of which end the conversation, from a broken answer.
func isClosing(err error) bool {
	var op *net.OpError
	return errors.Is(err, io.EOF) || errors.As(err, &op) && !op.Timeout()
}
