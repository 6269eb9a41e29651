package framing

import "bytes"

// head is what the head of a request says about its end.
type head struct {
	blank     bool // an empty line came before it
	old       bool // HTTP/1.0
	chunked   bool
	hasLength bool
	length    uint64
}

var (
	contentLength    = []byte("Content-Length")
	transferEncoding = []byte("Transfer-Encoding")
	chunked          = []byte("chunked")
)

// start takes the request line.
func (h *head) start(line []byte) *Error {
	method, rest, _ := bytes.Cut(line, []byte(" "))
	target, version, _ := bytes.Cut(rest, []byte(" "))
	h.old = string(version) == "HTTP/1.0"
	if !isToken(method) || !isTarget(target) || !h.old && string(version) != "HTTP/1.1" {
		return &Error{"the first line must be method, target and HTTP/1.1 or HTTP/1.0, one space apart"}
	}
	return nil
}

// add takes a header line.
func (h *head) add(line []byte) *Error {
	name, value, found := bytes.Cut(line, []byte(":"))
	if !found || !isToken(name) {
		return &Error{"a header must be a name, a colon right behind it, and a value, all on one line"}
	}
	if !isText(value) {
		return &Error{"a header must not hold control characters"}
	}
	switch {
	case bytes.EqualFold(name, contentLength):
		return h.addLength(bytes.Trim(value, " \t"))
	case bytes.EqualFold(name, transferEncoding):
		return h.addCoding(bytes.Trim(value, " \t"))
	}
	return nil
}

func (h *head) addLength(value []byte) *Error {
	length, ok := decimal(value)
	if !ok || h.hasLength {
		return &Error{"there must be one Content-Length at most, of digits alone"}
	}
	h.hasLength, h.length = true, length
	return nil
}

func (h *head) addCoding(value []byte) *Error {
	if !bytes.EqualFold(value, chunked) || h.chunked {
		return &Error{"there must be one Transfer-Encoding at most, and no other than chunked"}
	}
	h.chunked = true
	return nil
}

// decimal reads digits that fit into 63 bits with room to spare.
func decimal(b []byte) (n uint64, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + uint64(c-'0')
	}
	return n, 0 < len(b) && len(b) <= 18
}

// hexadecimal is decimal for base 16.
func hexadecimal(b []byte) (n uint64, ok bool) {
	for _, c := range b {
		switch {
		case '0' <= c && c <= '9':
			n = n<<4 | uint64(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			n = n<<4 | uint64(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return n, 0 < len(b) && len(b) <= 15
}

// isToken is RFC 9110, 5.6.2.
func isToken(b []byte) bool {
	for _, c := range b {
		if !tokenBytes[c] {
			return false
		}
	}
	return len(b) > 0
}

var tokenBytes = func() (set [256]bool) {
	for _, c := range []byte("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		set[c] = true
	}
	return set
}()

// isText allows what RFC 9110, 5.5 does in a value: visible bytes, space, tab, and those beyond ASCII.
func isText(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// isTarget leaves the form of a target to the server; it only must not be two things for two readers.
func isTarget(b []byte) bool {
	for _, c := range b {
		if c <= ' ' || c == 0x7f {
			return false
		}
	}
	return len(b) > 0
}
