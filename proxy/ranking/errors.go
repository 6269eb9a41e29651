package ranking

import (
	"context"
	"errors"
	"fmt"
	"time"

	"trtmc-ranking-proxy/ipc"
)

// Kind names what went wrong, in the words clients see as `error`. The set is closed: kinds are also metric labels.
type Kind string

const (
	InvalidRequest         Kind = "invalid_request"
	InputTooLong           Kind = "input_too_long"
	Unauthorized           Kind = "unauthorized"
	ModelNotFound          Kind = "model_not_found"
	NotFound               Kind = "not_found"
	MethodNotAllowed       Kind = "method_not_allowed"
	RequestTimeout         Kind = "request_timeout"
	PayloadTooLarge        Kind = "payload_too_large"
	UnsupportedMediaType   Kind = "unsupported_media_type"
	BackendRejectedRequest Kind = "backend_rejected_request"
	ServerBusy             Kind = "server_busy"
	HeadersTooLarge        Kind = "headers_too_large"
	ClientClosed           Kind = "client_closed" // nobody is left to read the status; it is for records and counters
	InternalError          Kind = "internal_error"
	BackendFailed          Kind = "backend_failed"
	BackendUnavailable     Kind = "backend_unavailable"
	DeadlineExceeded       Kind = "deadline_exceeded"
)

// statuses is the one place where a kind becomes an HTTP status.
var statuses = map[Kind]int{
	InvalidRequest:         400,
	InputTooLong:           400,
	Unauthorized:           401,
	ModelNotFound:          404,
	NotFound:               404,
	MethodNotAllowed:       405,
	RequestTimeout:         408,
	PayloadTooLarge:        413,
	UnsupportedMediaType:   415,
	BackendRejectedRequest: 422,
	ServerBusy:             429,
	HeadersTooLarge:        431,
	ClientClosed:           499,
	InternalError:          500,
	BackendFailed:          500,
	BackendUnavailable:     503,
	DeadlineExceeded:       504,
}

// Status is the HTTP status of the kind.
func (k Kind) Status() int { return statuses[k] }

// Kinds lists every kind, in no order.
func Kinds() []Kind {
	kinds := make([]Kind, 0, len(statuses))
	for kind := range statuses {
		kinds = append(kinds, kind)
	}
	return kinds
}

// Error is the one error type of the proxy: every failure of a request is one of these when it reaches a dialect.
type Error struct {
	Kind Kind
	// Reason says which check failed, from a small closed set, for counters and logs. It never holds a client's words.
	Reason string
	// Message is for the client. It may quote a field name of the client's, never a text.
	Message string
	// Detail adds where and how to mend it. May be empty.
	Detail string
	// RetryAfter is when a new try is likely to succeed; 0 says nothing.
	RetryAfter time.Duration
	// Cause is for the log only: it may name paths of this machine. May be nil.
	Cause error
}

func (e *Error) Error() string {
	if e.Detail == "" {
		return string(e.Kind) + ": " + e.Message
	}
	return string(e.Kind) + ": " + e.Message + ": " + e.Detail
}

func (e *Error) Unwrap() error { return e.Cause }

// ByTask is the Reason of an Error in the words of the Task.
const ByTask = "task"

// Invalid is a request that breaks a rule of the wire format or of this server.
func Invalid(reason, message, detail string) *Error {
	return &Error{Kind: InvalidRequest, Reason: reason, Message: message, Detail: detail}
}

// Unavailable says that no Task could take the request. detail is for the client, cause for the log; both are optional.
func Unavailable(detail string, cause error) *Error {
	return &Error{
		Kind: BackendUnavailable, Reason: "task_unavailable", RetryAfter: time.Second,
		Message: "the ranking Task is not available", Detail: detail, Cause: cause,
	}
}

// taskKinds maps the codes of ipc/PROTOCOL.md, section 7. A code that is not here counts as backend_failed, as the section says;
// so does cancelled where nobody has cancelled.
var taskKinds = map[ipc.Code]Kind{
	ipc.CodeInvalidRequest:         InvalidRequest,
	ipc.CodeInputTooLong:           InputTooLong,
	ipc.CodeBackendRejectedRequest: BackendRejectedRequest,
	ipc.CodeServerBusy:             ServerBusy,
	ipc.CodeBackendUnavailable:     BackendUnavailable,
	ipc.CodeBackendFailed:          BackendFailed,
	ipc.CodeDeadlineExceeded:       DeadlineExceeded,
	ipc.CodeProtocolError:          BackendFailed,
	ipc.CodeUnsupportedVersion:     BackendUnavailable,
}

// asError turns whatever the backend returned into an Error. What is neither the Task's answer nor the end of ctx
// means that no answer could be had from a Task.
func asError(ctx context.Context, err error) *Error {
	var answer *ipc.Error
	var unsendable *ipc.ProtocolError
	switch {
	case errors.As(err, &answer) && (answer.Code != ipc.CodeCancelled || ctx.Err() == nil):
		return fromTask(answer)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &Error{Kind: DeadlineExceeded, Reason: "deadline", Message: "the deadline passed before the answer was complete"}
	case ctx.Err() != nil:
		return &Error{Kind: ClientClosed, Reason: "disconnect", Message: "the client closed the connection"}
	case errors.As(err, &unsendable) && !errors.Is(err, ipc.ErrClosed):
		return &Error{Kind: InternalError, Reason: "unsendable", Message: "the request cannot be sent to the Task", Cause: err}
	}
	return Unavailable("", err)
}

func fromTask(answer *ipc.Error) *Error {
	kind, known := taskKinds[answer.Code]
	if !known {
		kind = BackendFailed
	}
	e := &Error{Kind: kind, Reason: ByTask, Message: answer.Message}
	switch kind {
	case InputTooLong:
		e.Message, e.Detail = tooLong(answer)
	case ServerBusy, BackendUnavailable:
		e.RetryAfter = retryAfter(answer)
	}
	return e
}

// tooLong words input_too_long as NIM does, and says what NIM does not: which passage, and how many.
func tooLong(answer *ipc.Error) (message, detail string) {
	if answer.Tokens == nil || answer.MaxTokens == nil || answer.Passage == nil {
		return answer.Message, ""
	}
	message = fmt.Sprintf("Input length %d exceeds maximum allowed token size %d", *answer.Tokens, *answer.MaxTokens)
	detail = fmt.Sprintf("the query with passage %d (counted from 0) is too long", *answer.Passage)
	if answer.Offending != nil && *answer.Offending > 1 {
		detail += fmt.Sprintf(", the first of %d", *answer.Offending)
	}
	return message, detail + "; truncation at the end would cut such passages"
}

func retryAfter(answer *ipc.Error) time.Duration {
	if answer.RetryAfterMS == nil {
		return time.Second
	}
	return time.Duration(*answer.RetryAfterMS) * time.Millisecond
}
