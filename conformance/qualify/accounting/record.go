// Package accounting joins what the client exported with what the proxy recorded, by request id, so that no request, score or failure can be
// lost, added or changed without being seen.
package accounting

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// Record is what is used of a line of the proxy's records (proxy/records/schema.json). It is read here by the published schema alone, so that
// the accounts do not lean on the code they check.
type Record struct {
	ID      string `json:"request_id"`
	Status  int    `json:"status"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason"`
	Task    struct {
		BundleDigest string `json:"bundle_digest"`
	} `json:"task"`
	Timing struct {
		Handler int64 `json:"handler_us"`
		IPC     int64 `json:"ipc_us"`
		Queue   int64 `json:"queue_us"`
		Call    int64 `json:"public_task_call_wall_us"`
	} `json:"timing"`
	Observation struct {
		QuerySHA256    string    `json:"query_sha256"`
		PassagesSHA256 string    `json:"passages_sha256"`
		Tokens         int64     `json:"tokens"`
		Scores         []float32 `json:"scores"`
		Order          []int     `json:"order"`
	} `json:"observation"`
}

// ReadRecords reads a records file.
func ReadRecords(r io.Reader) ([]Record, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	var all []Record
	for n := 1; lines.Scan(); n++ {
		var record Record
		if err := json.Unmarshal(lines.Bytes(), &record); err != nil || record.ID == "" {
			return nil, fmt.Errorf("records, line %d: no record with an id (%w)", n, err)
		}
		all = append(all, record)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	return all, nil
}
