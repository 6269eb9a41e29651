package framing

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/valyala/fasthttp"
)

// seen is a request as a parser takes it.
type seen struct{ method, target, body string }

// FuzzParsersAgree: of what passes, two parsers that know nothing of each other see the same requests, as far as both accept them, and
// each ends where the checker sees its end.
func FuzzParsersAgree(f *testing.F) {
	for _, text := range []string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"\r\nPOST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nHEAD / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nGET /POST / HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"POST / HTTP/1.1\nContent-Length : +3\r\n\tx\r\n\r\n1;a=b\r\nx\r\n0\r\nA: b\r\n\r\n",
		"CONNECT a:1 HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\nOPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var whole checker
		if _, err := whole.check(text); err != nil {
			return
		}
		ends, fast, standard := ends(text), byFastHTTP(text), byNetHTTP(text)
		for i := range min(len(fast), len(standard)) {
			if fast[i].seen != standard[i].seen {
				t.Fatalf("request %d is %q to fasthttp and %q to net/http", i, fast[i].seen, standard[i].seen)
			}
			if fast[i].end != ends[i] || standard[i].end != ends[i] {
				t.Fatalf("request %d ends at %d, for fasthttp at %d, for net/http at %d", i, ends[i], fast[i].end, standard[i].end)
			}
		}
	})
}

// ends are the offsets behind each whole request, as the checker sees them.
func ends(text []byte) (at []int) {
	var c checker
	for i := range text {
		before := c.state
		c.check(text[i : i+1])
		if c.state == requestLine && before != requestLine {
			at = append(at, i+1)
		}
	}
	return at
}

type parsed struct {
	seen
	end int
}

// position tells how much of text has been taken out of a buffered reader over it.
func position(text []byte, source *bytes.Reader, buffered *bufio.Reader) int {
	return len(text) - source.Len() - buffered.Buffered()
}

func byFastHTTP(text []byte) (found []parsed) {
	source := bytes.NewReader(text)
	reader := bufio.NewReaderSize(source, 64<<10)
	for {
		var r fasthttp.Request
		if r.ReadLimitBody(reader, 1<<20) != nil {
			return found
		}
		found = append(found, parsed{seen{string(r.Header.Method()), string(r.Header.RequestURI()), string(r.Body())}, position(text, source, reader)})
	}
}

func byNetHTTP(text []byte) (found []parsed) {
	source := bytes.NewReader(text)
	reader := bufio.NewReaderSize(source, 64<<10)
	for {
		if start, _ := reader.Peek(2); string(start) == "\r\n" {
			reader.Discard(2) // fasthttp passes over an empty line, net/http's server does so too, in its connection
		}
		r, err := http.ReadRequest(reader)
		if err != nil {
			return found
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return found
		}
		found = append(found, parsed{seen{r.Method, r.RequestURI, string(body)}, position(text, source, reader)})
	}
}
