// Package ranking is the one ranking path: every wire format hands its request to [Ranker.Rank] and renders what comes back,
// so that checks, order, errors and timings are the same whichever door a client came through.
//
// What scores mean, how texts become tokens, and how pairs are batched belong to the Task; nothing here touches a score.
package ranking

import (
	"context"
	"time"

	"trtmc-ranking-proxy/ipc"
)

// Request is one query and the passages to rank against it.
type Request struct {
	ipc.Rank // what the Task will see; DeadlineMS is set when it is sent

	Model   string // as the client named it; empty: whichever is served
	Dialect string // name of the wire format, for records and logs
}

// Result is the answer to a Request.
type Result struct {
	*ipc.Scores // Scores.Scores[i] belongs to Passages[i], bit for bit as the Task sent it

	// Order lists passage indices from the best score to the worst; equal scores keep the order of the passages.
	Order []int32
	// Task is the identity of the Task that answered.
	Task *ipc.Welcome
	// RoundTrip is the time from handing the rank to a connection to having its answer, a redial included. It is known also of
	// ranks that failed, and 0 where none was sent.
	RoundTrip time.Duration
	Asked     time.Time // the start of RoundTrip
}

// Tokens is the sum of the tokens scored, and whether the Task counts them at all.
func (r *Result) Tokens() (total uint64, counted bool) {
	for _, n := range r.PairTokens {
		total += uint64(n)
	}
	return total, r.HasTokens
}

// Backend reaches the Task.
type Backend interface {
	// Rank asks a Task and returns its answer, one finite score for each passage, with the identity of the Task that gave it.
	// The deadline is that of ctx.
	// Errors: *ipc.Error is the Task's own answer; the error of ctx when that ends; anything else means no Task answered.
	Rank(ctx context.Context, rank *ipc.Rank) (*ipc.Scores, *ipc.Welcome, error)
	// Identity is that of the Task last spoken to, nil before the first. It is known also while the Task is down.
	Identity() *ipc.Welcome
}

// Ranker checks requests, has them scored and sorts the answer. It is safe for concurrent use.
type Ranker struct {
	backend Backend
	limits  Limits
	aliases map[string]bool
}

// Limits bound a request. Tokens are bounded by the Task, which alone can count them.
type Limits struct {
	Passages     int // and never more than the Task takes
	PassageBytes int // of a passage, and of the query; 0: what the body may hold
}

// New returns a Ranker that answers to the served model's own id and to the aliases.
func New(backend Backend, limits Limits, aliases []string) *Ranker {
	r := &Ranker{backend: backend, limits: limits, aliases: make(map[string]bool, len(aliases))}
	for _, alias := range aliases {
		r.aliases[canonical(alias)] = true
	}
	return r
}

// Rank scores the passages of req. A returned error is always an [*Error]; the Result then holds times alone.
func (r *Ranker) Rank(ctx context.Context, req *Request) (Result, error) {
	if err := r.check(req); err != nil {
		return Result{}, err
	}
	start := time.Now()
	scores, task, err := r.backend.Rank(ctx, &req.Rank)
	roundTrip := time.Since(start)
	if err != nil {
		return Result{RoundTrip: roundTrip, Asked: start}, asError(ctx, err)
	}
	return Result{Scores: scores, Order: order(scores.Scores), Task: task, RoundTrip: roundTrip, Asked: start}, nil
}
