package framing

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// verdict is the rule that text breaks, fed in pieces of the given size, and how much of it passes before.
func verdict(text string, size int) (passed int, rule string) {
	var c checker
	for at := 0; at < len(text); at += size {
		n, err := c.check([]byte(text[at:min(at+size, len(text))]))
		passed += n
		if err != nil {
			return passed, err.Rule
		}
	}
	return passed, ""
}

// A request passes or breaks its rule wherever the network cuts it, and what ends the bad line never passes.
func TestRules(t *testing.T) {
	f := func(text, rule string) {
		t.Helper()
		for size := 1; size <= len(text); size++ {
			passed, broken := verdict(text, size)
			if (rule == "") != (broken == "") || !strings.Contains(broken, rule) {
				t.Fatalf("%q in pieces of %d: broke %q, not %q", text, size, broken, rule)
			}
			if rule == "" && passed != len(text) || rule != "" && strings.Contains(text[passed:], "PASSED") {
				t.Fatalf("%q in pieces of %d: %d bytes passed", text, size, passed)
			}
		}
	}
	const post = "PASSED / HTTP/1.1\r\nHost: x\r\n"
	f("GET / HTTP/1.1\r\n\r\n", "")
	f("GET /a?b=c HTTP/1.0\r\nHost:x\r\nX-A: \xc3\xa9\t \r\n\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", "")
	f(post+"Content-Length: 3\r\n\r\na\nbGET / HTTP/1.1\r\n\r\n", "")
	f(post+"content-LENGTH: \t007 \r\n\r\n1234567GET / HTTP/1.1\r\n\r\n", "")
	f(post+"Content-Length: 0\r\n\r\nGET / HTTP/1.1\r\n\r\n", "")
	f(post+"Transfer-Encoding: Chunked\r\n\r\n0A\r\n\r\n23456\r\n9\r\n1\r\na\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n", "")

	f(post+"Content-Length: 3\r\nContent-Length: 3\r\n\r\n", "one Content-Length")
	for _, length := range []string{"+3", "-3", "0x3", "3,3", "3 3", "", "3.", "9999999999999999999", "٣"} {
		f(post+"Content-Length: "+length+"\r\n\r\n", "one Content-Length")
	}
	for _, coding := range []string{"", "xchunked", "chunked, chunked", "gzip, chunked", "identity", `"chunked"`} {
		f(post+"Transfer-Encoding: "+coding+"\r\n\r\n", "one Transfer-Encoding")
	}
	f(post+"Transfer-Encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n", "one Transfer-Encoding")
	f(post+"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", "beside Content-Length")
	f(post+"Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n", "beside Content-Length")
	f("PASSED / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "nor in HTTP/1.0")

	f("PASSED / HTTP/1.1\nHost: x\n\n", "CR LF")
	f(post+"\n", "CR LF")
	f(post+"X-A: b\nContent-Length: 3\r\n\r\n", "CR LF")
	f(post+"X-A: b\rContent-Length: 3\r\n\r\n", "control")
	f(post+"X-A: b\x00\r\n\r\n", "control")
	f(post+"X-A: b\x7f\r\n\r\n", "control")
	f(post+"X-A: b\r\n c\r\n\r\n", "name, a colon")
	f(post+"X-A: b\r\n\tc: d\r\n\r\n", "name, a colon")
	f(post+"Content-Length : 3\r\n\r\n", "name, a colon")
	f(post+"Content\u2010Length: 3\r\n\r\n", "name, a colon")
	f(post+": 3\r\n\r\n", "name, a colon")
	f(post+"X-A\r\n\r\n", "name, a colon")

	for _, line := range []string{"", "hello", "GET /", "GET  / HTTP/1.1", " GET / HTTP/1.1", "GET / HTTP/1.1 ", "GET / x HTTP/1.1", "GET /\t HTTP/1.1",
		"GET / HTTP/1.2", "GET / http/1.1", "PRI * HTTP/2.0", "G(T / HTTP/1.1", "\x16\x03\x01", "GET /\x7f HTTP/1.1"} {
		f("\r\n"+line+"\r\n\r\n", "first line")
	}

	const many = post + "Transfer-Encoding: chunked\r\n\r\n"
	for _, size := range []string{"", "1;x=y", "1 ", " 1", "0x1", "-1", "+1", "1\r", "fffffffffffffffff", "g"} {
		f(many+size+"\r\na\r\n0\r\n\r\n", "chunk must begin")
	}
	f(many+"1\na\r\n0\r\n\r\n", "CR LF")
	f(many+"1\r\nab\r\n0\r\n\r\n", "chunk must end")
	f(many+"0\r\nX-A: b\r\n\r\n", "chunk must end")
	f(many+strings.Repeat("1", 100), "too long")
}

// A line is held in memory only up to a bound.
func TestEndlessLine(t *testing.T) {
	var c checker
	piece := []byte(strings.Repeat("a", 64<<10))
	for range maxHeadLine / len(piece) {
		if _, err := c.check(piece); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.check(piece); err == nil {
		t.Fatal("a line without an end is kept for ever")
	}
}

func nothing(net.Conn, Seen) error { return nil }

// Heads and bodies are announced as they come, before the rest of the body is read; what the one who is told objects to is not read.
func TestAnnounced(t *testing.T) {
	ours, theirs := net.Pipe()
	go func() {
		io.WriteString(theirs, "GET / HTTP/1.1\r\n\r\nPOST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nab")
		io.WriteString(theirs, "cd")
		io.WriteString(theirs, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
		io.WriteString(theirs, "3\r\nabc\r\n1")
		io.WriteString(theirs, "0\r\nabc")
		io.WriteString(theirs, "never read")
	}()
	full := errors.New("full")
	var told []Seen
	c := &Conn{Conn: ours, announced: func(_ net.Conn, s Seen) error {
		if told = append(told, s); s.Body == 16 {
			return full
		}
		return nil
	}}
	buffer := make([]byte, 100)
	var err error
	reads := 0
	for ; err == nil; reads++ {
		_, err = c.Read(buffer)
	}
	if want := []Seen{{2, 4}, {1, 0}, {0, 3}, {0, 16}}; !slices.Equal(told, want) {
		t.Errorf("told %v, not %v", told, want)
	}
	if err != full || c.Refusal() != full || reads != 6 {
		t.Errorf("after %d reads: %v, %v", reads, err, c.Refusal())
	}
}

// What is sound comes through; then the refusal, for good.
func TestConn(t *testing.T) {
	ours, theirs := net.Pipe()
	go func() {
		io.WriteString(theirs, "GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\nGET /smuggled HTTP/1.1\r\n\r\n")
		theirs.Close()
	}()
	c := &Conn{Conn: ours, announced: nothing}
	read, err := io.ReadAll(c)
	if want := "GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1"; string(read) != want {
		t.Fatalf("read %q, not %q", read, want)
	}
	for range 2 {
		if refusal := new(Error); !errors.As(err, &refusal) {
			t.Fatalf("ended with %v", err)
		}
		_, err = c.Read(make([]byte, 100))
	}
}

// TLS lies below: what is checked is what was said, not how it was sealed; and the server still finds the TLS connection.
func TestConnOverTLS(t *testing.T) {
	certified := httptest.NewTLSServer(nil)
	defer certified.Close()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	go func() {
		client, err := tls.Dial("tcp", inner.Addr().String(), &tls.Config{InsecureSkipVerify: true})
		if err == nil {
			io.WriteString(client, "GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\n\n")
			client.Close()
		}
	}()
	c, err := Listener(tls.NewListener(inner, &tls.Config{Certificates: certified.TLS.Certificates}), nothing).Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.(interface{ Handshake() error }).Handshake(); err != nil {
		t.Fatal(err)
	}
	if !c.(interface{ ConnectionState() tls.ConnectionState }).ConnectionState().HandshakeComplete {
		t.Fatal("not the state of the TLS connection")
	}
	read, err := io.ReadAll(c)
	if refusal := new(Error); !errors.As(err, &refusal) || string(read) != "GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1" {
		t.Fatalf("read %q, then %v", read, err)
	}
	if _, ok := c.(interface{ NetConn() net.Conn }).NetConn().(*tls.Conn); !ok {
		t.Fatal("the TLS connection is not the one below")
	}
}
