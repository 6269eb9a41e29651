// Package parity asks the same of the Task directly, over its socket, and of the server over HTTP, and compares the complete answers: every score
// bit, every index, and for refused input the kind of the refusal.
package parity

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"slices"

	"trtmc-ranking-proxy/ipc"
)

// Request is one ranking to ask for, under a name for reports.
type Request struct {
	Name     string
	Query    string
	Passages []string
	Truncate ipc.Truncate
}

// Answer is what came of a request. Kind is OK or, on both sides in the same words, why it was refused.
type Answer struct {
	Kind   string
	Status int       // HTTP: as answered; natively: what PROTOCOL.md says that the refusal becomes
	Scores []float32 // in passage order
	Order  []int     // passage indices, best first
}

// OK is the kind of an answer with scores.
const OK = "ok"

// statuses are the HTTP statuses of the ipc's error codes (ipc/PROTOCOL.md, section 7), written down again so that the proxy's own table is
// checked too.
var statuses = map[ipc.Code]int{
	ipc.CodeInvalidRequest: http.StatusBadRequest, ipc.CodeInputTooLong: http.StatusBadRequest,
	ipc.CodeBackendRejectedRequest: http.StatusUnprocessableEntity, ipc.CodeServerBusy: http.StatusTooManyRequests,
	ipc.CodeBackendUnavailable: http.StatusServiceUnavailable, ipc.CodeBackendFailed: http.StatusInternalServerError,
	ipc.CodeDeadlineExceeded: http.StatusGatewayTimeout,
}

// Scored is the answer that these scores make: best first, equal scores in passage order.
func Scored(scores []float32) Answer {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return Answer{Kind: OK, Status: http.StatusOK, Scores: scores, Order: order}
}

// Difference says how the answer over HTTP differs from the native one; empty if in nothing.
func Difference(native, overHTTP *Answer) string {
	switch {
	case native.Kind != overHTTP.Kind:
		return fmt.Sprintf("the Task says %s, HTTP says %s", native.Kind, overHTTP.Kind)
	case native.Status != overHTTP.Status:
		return fmt.Sprintf("%s is status %d, want %d", native.Kind, overHTTP.Status, native.Status)
	case len(native.Scores) != len(overHTTP.Scores):
		return fmt.Sprintf("%d scores, the Task gave %d", len(overHTTP.Scores), len(native.Scores))
	}
	for i, want := range native.Scores {
		if got := overHTTP.Scores[i]; math.Float32bits(got) != math.Float32bits(want) {
			return fmt.Sprintf("passage %d has score bits %08x, the Task gave %08x", i, math.Float32bits(got), math.Float32bits(want))
		}
	}
	if !slices.Equal(native.Order, overHTTP.Order) {
		return fmt.Sprintf("the order is %v, the Task's scores make %v", overHTTP.Order, native.Order)
	}
	return ""
}
