package run

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
)

// A server that reads HTTP as loosely as it can: any line end, any spaces, the last Content-Length, and keep-alive whatever comes.
func TestLooseFramingIsCaught(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go answerLoosely(conn)
		}
	}()
	mustFail(t, configFor(t, "http://"+listener.Addr().String()), []string{
		"content-length-and-transfer-encoding", "two-content-lengths", "content-length-that-is-no-plain-number", "space-before-the-colon",
		"unknown-transfer-encoding", "nul-in-a-header", "bare-carriage-return", "body-announced-beyond-any-limit",
		"invitation-is-not-given-to-what-will-be-refused", "missing-or-double-host",
	})
}

func answerLoosely(conn net.Conn) {
	defer conn.Close()
	reader := bufio.NewReader(conn)
	for {
		length, invited, err := looseHead(reader)
		if err != nil {
			return
		}
		if invited {
			fmt.Fprint(conn, "HTTP/1.1 100 Continue\r\n\r\n")
		}
		if _, err := io.CopyN(io.Discard, reader, length); err != nil {
			return
		}
		fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
	}
}

func looseHead(reader *bufio.Reader) (length int64, invited bool, err error) {
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			return 0, false, err
		}
		name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		if name == "" {
			return length, invited, nil
		}
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "content-length":
			length, _ = strconv.ParseInt(strings.TrimSpace(value), 0, 64)
		case "expect":
			invited = ok
		}
	}
}
