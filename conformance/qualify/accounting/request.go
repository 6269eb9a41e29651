package accounting

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"trtmc-ranking-proxy/conformance/qualify/aiperf"
)

// Request is one matched request with its clocks side by side. It is a line of the evidence.
type Request struct {
	Load      string `json:"load"`
	ID        string `json:"id"`
	Warmup    bool   `json:"warmup"`
	Case      int    `json:"case"` // of the dataset, from 0; -1: none of it
	Status    int    `json:"status"`
	StartUS   int64  `json:"start_us"` // Unix time
	EndUS     int64  `json:"end_us"`
	ClientUS  int64  `json:"client_us"` // end to end, as AIPerf measured it
	HandlerUS int64  `json:"handler_us"`
	IPCUS     int64  `json:"ipc_us"`
	QueueUS   int64  `json:"queue_us"`
	CallUS    int64  `json:"public_task_call_wall_us"`
	Tokens    int64  `json:"tokens,omitempty"`
	Passages  int    `json:"passages"`
	ScoresSHA string `json:"scores_sha256"` // HashScores of what the client got, as recorded; compared with the Task's own
}

func newRequest(load string, e *aiperf.Exchange, r *Record, number int) Request {
	return Request{
		Load: load, ID: e.ID, Warmup: e.Warmup, Case: number, Status: e.Status, StartUS: e.Start.UnixMicro(), EndUS: e.End.UnixMicro(),
		ClientUS: e.Latency.Microseconds(), HandlerUS: r.Timing.Handler, IPCUS: r.Timing.IPC, QueueUS: r.Timing.Queue, CallUS: r.Timing.Call,
		Tokens: r.Observation.Tokens, Passages: len(e.Passages), ScoresSHA: HashScores(r.Observation.Scores),
	}
}

// disorder says which of the nested clocks is longer than the one around it. Only what was answered has them all. The handler's may end after
// the client's: the answer can be read before the proxy's thread runs again and looks at its clock.
func (r *Request) disorder() string {
	if r.Status == 200 && (r.QueueUS+r.CallUS > r.IPCUS || r.IPCUS > r.HandlerUS || r.IPCUS > r.ClientUS) {
		return fmt.Sprintf("queue %d + call %d, ipc %d, handler %d, client %d us are not each within the next",
			r.QueueUS, r.CallUS, r.IPCUS, r.HandlerUS, r.ClientUS)
	}
	return ""
}

// HashScores is the SHA-256 of the scores' bits, little endian, in passage order.
func HashScores(scores []float32) string {
	var bits []byte
	for _, s := range scores {
		bits = binary.LittleEndian.AppendUint32(bits, math.Float32bits(s))
	}
	sum := sha256.Sum256(bits)
	return hex.EncodeToString(sum[:])
}

// WriteRequests writes one JSON line a request, compressed.
func WriteRequests(w io.Writer, requests []Request) error {
	z := gzip.NewWriter(w)
	encoder := json.NewEncoder(z)
	for i := range requests {
		if err := encoder.Encode(&requests[i]); err != nil {
			return fmt.Errorf("write requests: %w", err)
		}
	}
	return z.Close()
}

// ReadRequests reads what WriteRequests wrote. Unknown fields are errors.
func ReadRequests(r io.Reader) ([]Request, error) {
	z, err := gzip.NewReader(bufio.NewReader(r))
	if err != nil {
		return nil, fmt.Errorf("read requests: %w", err)
	}
	decoder := json.NewDecoder(z)
	decoder.DisallowUnknownFields()
	var all []Request
	for {
		var request Request
		switch err := decoder.Decode(&request); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("read requests: %w", err)
		}
		all = append(all, request)
	}
}
