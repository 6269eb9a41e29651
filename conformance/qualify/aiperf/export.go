package aiperf

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Exchange is one request as AIPerf saw it: a line of profile_export_raw.jsonl.
type Exchange struct {
	ID       string // X-Request-ID
	Warmup   bool
	Query    string
	Passages []string
	Start    time.Time
	End      time.Time
	Latency  time.Duration // sending to the end of the answer, as AIPerf's request_latency; 0 without an answer
	Status   int           // 0: none came
	Body     []byte        // of the answer
	Failure  string        // AIPerf's own word, empty if it was content
}

// RawExport is the file that --export-level raw writes.
const RawExport = "profile_export_raw.jsonl"

type rawLine struct {
	Metadata struct {
		ID    string `json:"x_request_id"`
		Phase string `json:"benchmark_phase"`
		Start int64  `json:"request_start_ns"`
		End   int64  `json:"request_end_ns"`
	} `json:"metadata"`
	StartPerf int64 `json:"start_perf_ns"`
	Status    int   `json:"status"`
	Responses []struct {
		Perf int64  `json:"perf_ns"`
		Text string `json:"text"`
	} `json:"responses"`
	Payload struct {
		Query    struct{ Text string }
		Passages []struct{ Text string }
	} `json:"payload"`
	Error *struct {
		Code    any    `json:"code"`
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

// mostLine bounds one line: a request of 512 long passages and its answer.
const mostLine = 64 << 20

// ReadRaw reads a raw export. A line of another phase than warm-up or profiling, or without an id, is an error.
func ReadRaw(r io.Reader) ([]Exchange, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, mostLine)
	var all []Exchange
	for n := 1; lines.Scan(); n++ {
		var line rawLine
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("raw export, line %d: %w", n, err)
		}
		phase := line.Metadata.Phase
		if line.Metadata.ID == "" || phase != "warmup" && phase != "profiling" {
			return nil, fmt.Errorf("raw export, line %d: request id %q of phase %q", n, line.Metadata.ID, phase)
		}
		all = append(all, line.exchange())
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read raw export: %w", err)
	}
	return all, nil
}

func (l *rawLine) exchange() Exchange {
	e := Exchange{
		ID: l.Metadata.ID, Warmup: l.Metadata.Phase == "warmup", Query: l.Payload.Query.Text, Status: l.Status,
		Start: time.Unix(0, l.Metadata.Start), End: time.Unix(0, l.Metadata.End),
	}
	for _, p := range l.Payload.Passages {
		e.Passages = append(e.Passages, p.Text)
	}
	if n := len(l.Responses); n > 0 {
		e.Body = []byte(l.Responses[n-1].Text)
		e.Latency = time.Duration(l.Responses[n-1].Perf - l.StartPerf)
	}
	if l.Error != nil {
		e.Failure = fmt.Sprintf("%v %s", l.Error.Code, l.Error.Type) // not the message, which may quote a text
	}
	return e
}
