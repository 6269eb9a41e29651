// Package dialect translates wire formats. Each file is one format; all of them speak in terms of [ranking.Request] and
// [ranking.Result], and none of them decides anything about scores, limits or errors.
//
// To add a format, add a file with a type that implements [Dialect] and name it in [All].
package dialect

import (
	"time"

	"trtmc-ranking-proxy/proxy/ranking"
)

// Dialect is one wire format. It is safe for concurrent use.
type Dialect interface {
	// Name is a short constant, used as a metric label.
	Name() string
	// Paths are the routes that take this format's POST requests. A segment {model}, with {org} before it, names the model.
	Paths() []string
	// Decode reads a request body. What it returns does not alias body. A returned error is always a [*ranking.Error].
	Decode(body []byte) (Call, error)
	// Status is the HTTP status of an error in this format.
	Status(err *ranking.Error) int
	// AppendError renders an error in this format's shape.
	AppendError(dst []byte, err *ranking.Error, requestID string) []byte
}

// All lists every format; nim holds the settings of the first. The first one's error shape serves the routes without a format.
func All(nim NIM) []Dialect {
	return []Dialect{nim, HostedNIM{}, TEI{}, Cohere{}, Jina{}, Score{}}
}

// Call is one decoded request with what its format needs to remember in order to render the answer.
type Call interface {
	// Request is what to rank. The caller fills in what came by header.
	Request() *ranking.Request
	// AppendResult renders the answer. timing is nil when it is not to be shown.
	AppendResult(dst []byte, result *ranking.Result, timing *Timing) []byte
}

// Timing is what the client is told about time, each from its own clock and never added up.
type Timing struct {
	Queue   time.Duration // Task: admission to first batch start
	Call    time.Duration // Task: public_task_call_wall
	Handler time.Duration // proxy: complete request to rendering the answer
}
