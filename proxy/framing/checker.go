package framing

import "bytes"

// checker follows the requests of one connection, byte after byte. Its zero value is at the start of the first.
type checker struct {
	state   state
	head    head
	left    uint64 // bytes to come of a body or a chunk
	seen    Seen   // and not yet announced
	partial []byte // the start of a line whose end has not come
}

type state uint8

const (
	requestLine state = iota
	headerLine
	fixedBody
	chunkSize
	chunkData
	chunkEnd // behind the data of a chunk
	lastEnd  // behind the chunk of size 0
)

// Longest lines. A head is bounded by the server's read buffer as well.
const (
	maxHeadLine  = 1 << 20
	maxChunkLine = 32
)

// check takes the next bytes and returns how many of them are sound: all, or those before the end of the line that breaks a rule.
func (c *checker) check(b []byte) (int, *Error) {
	for at := 0; at < len(b); {
		if c.state == fixedBody || c.state == chunkData {
			at += c.skip(len(b) - at)
			continue
		}
		n := bytes.IndexByte(b[at:], '\n')
		if n < 0 {
			return len(b), c.keep(b[at:])
		}
		if err := c.line(b[at : at+n]); err != nil {
			return at + n, err
		}
		at += n + 1
	}
	return len(b), nil
}

// skip passes over data, of which n bytes are there.
func (c *checker) skip(n int) int {
	if uint64(n) < c.left {
		c.left -= uint64(n)
		return n
	}
	n = int(c.left)
	if c.left = 0; c.state == fixedBody {
		c.state = requestLine
	} else {
		c.state = chunkEnd
	}
	return n
}

func (c *checker) keep(b []byte) *Error {
	longest := maxHeadLine
	if c.state >= chunkSize {
		longest = maxChunkLine
	}
	if len(c.partial)+len(b) > longest {
		return &Error{"a line is too long"}
	}
	c.partial = append(c.partial, b...)
	return nil
}

// line takes a whole line, without its LF.
func (c *checker) line(b []byte) *Error {
	if c.partial != nil {
		b = append(c.partial, b...)
		c.partial = nil
	}
	line, ok := bytes.CutSuffix(b, []byte("\r"))
	if !ok {
		return &Error{"a line must end in CR LF"}
	}
	switch c.state {
	case requestLine:
		return c.begin(line)
	case headerLine:
		if len(line) > 0 {
			return c.head.add(line)
		}
		return c.endHead()
	case chunkSize:
		return c.beginChunk(line)
	}
	return c.endChunk(line)
}

func (c *checker) begin(line []byte) *Error {
	if len(line) == 0 && !c.head.blank {
		c.head.blank = true // RFC 9112, 2.2: an empty line before a request is ignored
		return nil
	}
	c.head, c.state = head{}, headerLine
	return c.head.start(line)
}

func (c *checker) endHead() *Error {
	read := c.head
	c.head = head{}
	c.seen.Heads++
	c.seen.Body = read.length
	switch {
	case read.chunked && (read.hasLength || read.old):
		return &Error{"Transfer-Encoding must not stand beside Content-Length, nor in HTTP/1.0"}
	case read.chunked:
		c.state = chunkSize
	case read.length > 0:
		c.state, c.left = fixedBody, read.length
	default:
		c.state = requestLine
	}
	return nil
}

func (c *checker) beginChunk(line []byte) *Error {
	size, ok := hexadecimal(line)
	if !ok {
		return &Error{"a chunk must begin with its size in hexadecimal and nothing else"}
	}
	c.seen.Body += size
	if c.state, c.left = chunkData, size; size == 0 {
		c.state = lastEnd
	}
	return nil
}

func (c *checker) endChunk(line []byte) *Error {
	if len(line) > 0 {
		return &Error{"a chunk must end where its size says, and the last one has no trailer"}
	}
	if c.state == lastEnd {
		c.state = requestLine
	} else {
		c.state = chunkSize
	}
	return nil
}
