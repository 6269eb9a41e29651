package ipc

import (
	"math"
	"unicode/utf8"
)

// textRule is what a string of the protocol must be, on its way in and out.
type textRule struct {
	limit int                 // bytes
	class Class               // of the fault if valid says no
	valid func(s string) bool // nil: any UTF-8
}

var (
	payloadText = textRule{limit: MaxPayload}
	shortText   = textRule{limit: MaxShort}
	requestID   = textRule{limit: MaxShort, class: ClassBadID, valid: validID}
)

func (r textRule) check(s string) *ProtocolError {
	switch {
	case len(s) > r.limit:
		return faultf(ClassTooLong, "string of %d bytes, at most %d", len(s), r.limit)
	case !utf8.ValidString(s):
		return faultf(ClassBadUTF8, "string of %d bytes", len(s))
	case r.valid != nil && !r.valid(s):
		return faultf(r.class, "string of %d bytes", len(s))
	}
	return nil
}

func finite(f float32) bool {
	const exponent = 0x7f800000
	return math.Float32bits(f)&exponent != exponent
}
