package ranking

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"trtmc-ranking-proxy/ipc"
)

// task answers every rank the same way.
type task struct {
	welcome *ipc.Welcome
	scores  []float32
	err     error
	asked   int
}

func (b *task) Identity() *ipc.Welcome { return b.welcome }

func (b *task) Rank(_ context.Context, rank *ipc.Rank) (*ipc.Scores, *ipc.Welcome, error) {
	b.asked++
	return &ipc.Scores{ID: rank.ID, Scores: b.scores}, b.welcome, b.err
}

func welcome() *ipc.Welcome { return &ipc.Welcome{Model: "m", MaxPassages: 3} }

func request(passages ...string) *Request {
	return &Request{Rank: ipc.Rank{ID: "r", Query: "q", Passages: passages, Truncate: ipc.TruncateNone}}
}

func TestChecks(t *testing.T) {
	f := func(change func(*Request), kind Kind, reason string) {
		t.Helper()
		backend := &task{welcome: welcome(), scores: []float32{1}}
		req := request("a")
		change(req)
		_, err := New(backend, Limits{Passages: 4, PassageBytes: 10}, nil).Rank(t.Context(), req)
		var refusal *Error
		if !errors.As(err, &refusal) || refusal.Kind != kind || refusal.Reason != reason {
			t.Fatalf("got %v, want %s/%s", err, kind, reason)
		}
		if backend.asked != 0 {
			t.Fatal("the Task was asked")
		}
	}
	f(func(r *Request) { r.Query = "" }, InvalidRequest, "blank_query")
	f(func(r *Request) { r.Query = " \t\u00a0\u2003\n" }, InvalidRequest, "blank_query")
	f(func(r *Request) { r.Passages = nil }, InvalidRequest, "no_passages")
	f(func(r *Request) { r.Passages = []string{"a", "b", "c", "d"} }, InvalidRequest, "too_many_passages")
	f(func(r *Request) { r.Passages = []string{"a", " "} }, InvalidRequest, "blank_passage")
	f(func(r *Request) { r.Passages = []string{"0123456789", "0123456789a"} }, PayloadTooLarge, "text_bytes")
	f(func(r *Request) { r.Query = "0123456789a" }, PayloadTooLarge, "text_bytes")
	f(func(r *Request) { r.Model = "other" }, ModelNotFound, "unknown_model")
}

func TestMaxPassagesIsTheLowerOfBoth(t *testing.T) {
	f := func(own int, theirs *ipc.Welcome, want int) {
		t.Helper()
		if got := New(&task{welcome: theirs}, Limits{Passages: own}, nil).MaxPassages(); got != want {
			t.Fatalf("got %d, want %d", got, want)
		}
	}
	f(512, nil, 512)
	f(512, &ipc.Welcome{MaxPassages: 100}, 100)
	f(50, &ipc.Welcome{MaxPassages: 100}, 50)
}

func TestOrderIsStableAndComplete(t *testing.T) {
	scores := make([]float32, 2000)
	for i := range scores {
		scores[i] = float32(i * 7919 % 13) // many ties
	}
	got := order(scores)
	if !slices.IsSortedFunc(got, func(a, b int32) int {
		if scores[a] != scores[b] {
			return int(scores[b] - scores[a])
		}
		return int(a - b)
	}) {
		t.Fatal("not sorted by score, then by place")
	}
	slices.Sort(got)
	for i, index := range got {
		if int(index) != i {
			t.Fatalf("index %d is missing or twice", i)
		}
	}
}

func TestErrorsOfTheBackend(t *testing.T) {
	f := func(ctx context.Context, err error, kind Kind) {
		t.Helper()
		_, got := New(&task{welcome: welcome(), err: err}, Limits{Passages: 4}, nil).Rank(ctx, request("a"))
		var refusal *Error
		if !errors.As(got, &refusal) || refusal.Kind != kind {
			t.Fatalf("%v: got %v, want %s", err, got, kind)
		}
		if strings.Contains(refusal.Message+refusal.Detail, "/secret/path") {
			t.Fatalf("the client would read a path of ours: %v", got)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	expired, cancel := context.WithTimeout(t.Context(), -time.Second)
	defer cancel()
	f(t.Context(), errors.New("dial /secret/path: refused"), BackendUnavailable)
	f(t.Context(), &ipc.ClosedError{Sent: true, Cause: io.EOF}, BackendUnavailable)
	f(t.Context(), &ipc.ClosedError{Cause: &ipc.ProtocolError{Class: "bad_flags"}}, BackendUnavailable)
	f(t.Context(), &ipc.ProtocolError{Class: "too_long"}, InternalError)
	f(t.Context(), fmt.Errorf("hello: %w", context.DeadlineExceeded), BackendUnavailable) // not the request's own deadline
	f(cancelled, context.Canceled, ClientClosed)
	f(expired, context.DeadlineExceeded, DeadlineExceeded)
	f(t.Context(), &ipc.Error{Code: "a_later_code", Message: "m"}, BackendFailed)
	f(t.Context(), &ipc.Error{Code: ipc.CodeProtocolError, Message: "m"}, BackendFailed)
	f(t.Context(), &ipc.Error{Code: ipc.CodeUnsupportedVersion, Message: "m"}, BackendUnavailable)
	f(cancelled, &ipc.Error{Code: ipc.CodeCancelled, Message: "m"}, ClientClosed)
	f(expired, &ipc.Error{Code: ipc.CodeCancelled, Message: "m"}, DeadlineExceeded)
	f(t.Context(), &ipc.Error{Code: ipc.CodeCancelled, Message: "m"}, BackendFailed)
}

func TestEveryKindHasAnErrorStatus(t *testing.T) {
	for _, kind := range Kinds() {
		if status := kind.Status(); status < 400 || status > 599 {
			t.Errorf("%s has status %d", kind, status)
		}
	}
}
