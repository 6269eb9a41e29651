// Package records keeps one JSON line for each ranking request, whatever became of it: who asked for what, what came back, and where
// the time went. schema.json describes a line; README.md of the proxy describes the file.
//
// A request hands over a Record when its answer is on the wire; everything else (hashing, encoding, writing) is done by one
// goroutine. Texts are not kept unless asked for: their SHA-256 is, so that the same work can be recognised.
package records

import (
	"time"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/proxy/ranking"
)

// Record is what is known of one request at its end. Nothing in it may change once it has been handed over.
type Record struct {
	ID       string
	Time     time.Time // the request was complete
	Route    string    // "unknown" for what reached none
	Dialect  string    // empty for what reached no ranking route
	Warmup   bool      // the client said so
	InFlight int64     // ranking requests in progress at arrival, itself included

	Status    int
	Outcome   ranking.Kind // "ok" or an error kind
	Reason    string       // which check failed; empty unless one did
	Sent      bool         // the whole answer went to the socket
	BodyBytes int

	Request *ranking.Request // nil if the body was not understood
	Result  ranking.Result   // Scores is nil unless scored; RoundTrip is 0 unless a rank was sent
	Task    *ipc.Welcome     // the Task that answered, or else the one last spoken to; nil before the first

	Handler time.Duration // complete request to the last byte handed to the socket
	Decode  time.Duration // of the body; part of Handler
}

// weight is roughly the memory that the record holds on to, in bytes.
func (r *Record) weight() int {
	const fixed, perPassage = 1 << 10, 64
	n := fixed + r.BodyBytes
	if r.Request != nil {
		n += perPassage * len(r.Request.Passages)
	}
	return n
}
