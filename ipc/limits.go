package ipc

// Limits of PROTOCOL.md, section 3.
const (
	MaxPayload  = 32 << 20 // bytes of a frame's payload
	MaxPassages = 16384    // elements of the passages array, and of packed arrays
	MaxID       = 128      // bytes of a request id
	MaxShort    = 4096     // bytes of any other string but query and passages

	maxEntries  = 64 // entries of a map
	maxElements = 64 // elements of an array other than passages
	maxKey      = 64 // bytes of a key
	maxDepth    = 4  // the payload map is depth 1

	maxCount = 1 << 31 // tokens and milliseconds that have a bound
	maxPath  = 107     // bytes of a socket path (sun_path less its final NUL)
)

// maxAbandoned bounds the exchanges whose caller has left and whose answer is still owed. A Task owes an answer to a cancelled rank too,
// so one that piles them up has stopped working.
const maxAbandoned = 4096

// validID tells whether s matches ^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$.
func validID(s string) bool {
	if s == "" || len(s) > MaxID || !isAlphanumeric(s[0]) {
		return false
	}
	for i := 1; i < len(s); i++ {
		c := s[i]
		if !isAlphanumeric(c) && c != '.' && c != '_' && c != ':' && c != '-' {
			return false
		}
	}
	return true
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
