package ipc

import (
	"errors"
	"fmt"
)

// Class names the rule of PROTOCOL.md that a frame breaks; conformance/vectors/README.md lists the classes the vectors use.
type Class string

const (
	ClassTruncated      Class = "truncated"
	ClassFrameTooLarge  Class = "frame_too_large"
	ClassBadFlags       Class = "bad_flags"
	ClassUnknownType    Class = "unknown_type"
	ClassWrongDirection Class = "wrong_direction"
	ClassBadExchange    Class = "bad_exchange"
	ClassNotAMap        Class = "not_a_map"
	ClassTrailingBytes  Class = "trailing_bytes"
	ClassBadMsgpack     Class = "bad_msgpack"
	ClassExt            Class = "ext"
	ClassTooMany        Class = "too_many"
	ClassTooLong        Class = "too_long"
	ClassDepth          Class = "depth"
	ClassDuplicateKey   Class = "duplicate_key"
	ClassMissingField   Class = "missing_field"
	ClassWrongType      Class = "wrong_type"
	ClassOutOfRange     Class = "out_of_range"
	ClassBadUTF8        Class = "bad_utf8"
	ClassBadID          Class = "bad_id"
	ClassBadValue       Class = "bad_value"
	ClassBadLength      Class = "bad_length"
	ClassCountMismatch  Class = "count_mismatch"
	ClassNotFinite      Class = "not_finite"

	// Faults of a conversation rather than of one frame, so no vector shows them.
	ClassUnknownExchange Class = "unknown_exchange" // an answer nobody waits for, such as a second one
	ClassUnexpected      Class = "unexpected"       // a message that has no place here, such as a second welcome
	ClassIDMismatch      Class = "id_mismatch"      // an answer that carries the id of another rank
	ClassUnanswered      Class = "unanswered"       // too many cancelled ranks without their answer
)

// ProtocolError says which rule a frame breaks, and where. It never carries text of a query or passage.
type ProtocolError struct {
	Class  Class
	Detail string
}

func (e *ProtocolError) Error() string {
	return fmt.Sprintf("ipc: protocol error: %s: %s", e.Class, e.Detail)
}

// in names the field of the fault.
func (e *ProtocolError) in(key string) *ProtocolError {
	if key != "" {
		e.Detail = key + ": " + e.Detail
	}
	return e
}

func faultf(class Class, format string, args ...any) *ProtocolError {
	return &ProtocolError{class, fmt.Sprintf(format, args...)}
}

// ErrClosed is what every error of an ended connection is (errors.Is).
var ErrClosed = errors.New("ipc: connection closed")

// ErrDraining is the cause of a ClosedError for a new rank on a connection whose Task has sent goaway.
var ErrDraining = errors.New("ipc: the Task is draining")

// ClosedError means that a connection ended, or drains, before the answer came.
type ClosedError struct {
	Sent  bool  // the request may have reached the Task
	Cause error // why the connection ended
}

func (e *ClosedError) Error() string {
	if e.Sent {
		return fmt.Sprintf("%v after the request was sent: %v", ErrClosed, e.Cause)
	}
	return fmt.Sprintf("%v before the request was sent: %v", ErrClosed, e.Cause)
}

// Is makes errors.Is true for ErrClosed and for what Cause is. There is no Unwrap on purpose: errors.As must not take an *Error the Task sent
// for the connection for its answer to this request.
func (e *ClosedError) Is(target error) bool { return target == ErrClosed || errors.Is(e.Cause, target) }
