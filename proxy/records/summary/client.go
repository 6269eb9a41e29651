package summary

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Clients is the clock of the client, by request id.
type Clients map[string]Client

// Client is one request as its client saw it.
type Client struct {
	Latency time.Duration
	Warmup  bool
}

// exported is what is used of a line of AIPerf's profile_export.jsonl.
type exported struct {
	Metadata struct {
		RequestID string `json:"x_request_id"`
		Phase     string `json:"benchmark_phase"`
	} `json:"metadata"`
	Metrics struct {
		Latency *struct {
			Value float64 `json:"value"`
			Unit  string  `json:"unit"`
		} `json:"request_latency"`
	} `json:"metrics"`
}

var units = map[string]time.Duration{"ns": time.Nanosecond, "us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "sec": time.Second}

// ReadAIPerf reads a profile_export.jsonl of AIPerf, which knows latencies and which requests were warm-up.
func ReadAIPerf(r io.Reader) (Clients, error) {
	clients := make(Clients)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for n := 1; lines.Scan(); n++ {
		var e exported
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("client file, line %d: %w", n, err)
		}
		c := Client{Warmup: e.Metadata.Phase == "warmup"}
		if latency := e.Metrics.Latency; latency != nil {
			unit, known := units[latency.Unit]
			if !known {
				return nil, fmt.Errorf("client file, line %d: unknown unit %q", n, latency.Unit)
			}
			c.Latency = time.Duration(latency.Value * float64(unit))
		}
		clients[e.Metadata.RequestID] = c
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read client file: %w", err)
	}
	return clients, nil
}
