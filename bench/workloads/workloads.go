// Package workloads holds the benchmark's inputs as files (CC0), each with a digest that is printed with every result, and reads others in
// the same form: JSON lines, one request each, in the order they are sent; after the last comes the first again.
package workloads

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

//go:embed *.jsonl.gz
var files embed.FS

// Names are the built-in workloads.
var Names = []string{"W1", "W2", "W3", "W4", "W5", "W6"}

// Request is one ranking request of a workload.
type Request struct {
	AtMS     float64  `json:"at_ms,omitempty"` // arrival in a replay, from its start
	Class    string   `json:"class,omitempty"` // latencies are also reported per class
	Query    string   `json:"query"`
	Passages []string `json:"passages"`
}

// Workload is a list of requests with the digest of its uncompressed file.
type Workload struct {
	Name     string
	Digest   string // "sha256:" and 64 hex digits
	Requests []Request
}

// Load reads a built-in workload by name, or else the file of that path (.jsonl or .jsonl.gz).
func Load(name string) (*Workload, error) {
	data, err := files.ReadFile(name + ".jsonl.gz")
	if err != nil {
		if data, err = os.ReadFile(name); err != nil {
			return nil, fmt.Errorf("workload %q is neither one of %s nor a readable file: %w", name, strings.Join(Names, " "), err)
		}
	}
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		if data, err = gunzip(data); err != nil {
			return nil, fmt.Errorf("uncompress workload %s: %w", name, err)
		}
	}
	return Parse(name, data)
}

// Parse reads uncompressed JSON lines. A request without passages, or arrivals that go backwards, are errors.
func Parse(name string, data []byte) (*Workload, error) {
	sum := sha256.Sum256(data)
	w := &Workload{Name: name, Digest: "sha256:" + hex.EncodeToString(sum[:])}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	for {
		var r Request
		if err := decoder.Decode(&r); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("workload %s, request %d: %w", name, len(w.Requests), err)
		}
		if len(r.Passages) == 0 {
			return nil, fmt.Errorf("workload %s, request %d has no passages", name, len(w.Requests))
		}
		if n := len(w.Requests); r.AtMS < 0 || n > 0 && r.AtMS < w.Requests[n-1].AtMS {
			return nil, fmt.Errorf("workload %s, request %d arrives before the one above it", name, n)
		}
		w.Requests = append(w.Requests, r)
	}
	if len(w.Requests) == 0 {
		return nil, fmt.Errorf("workload %s is empty", name)
	}
	return w, nil
}

// Replay tells whether the requests carry arrival times, and how long one round of them lasts.
func (w *Workload) Replay() (length time.Duration, ok bool) {
	last := w.Requests[len(w.Requests)-1].AtMS
	return time.Duration(last * float64(time.Millisecond)), last > 0
}

// Only is the workload with the requests of one class; an empty class is all of them.
func (w *Workload) Only(class string) (*Workload, error) {
	if class == "" {
		return w, nil
	}
	kept := &Workload{Name: w.Name + "/" + class, Digest: w.Digest}
	for _, r := range w.Requests {
		if r.Class == class {
			kept.Requests = append(kept.Requests, r)
		}
	}
	if len(kept.Requests) == 0 {
		return nil, fmt.Errorf("workload %s has no request of class %q", w.Name, class)
	}
	return kept, nil
}

func gunzip(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
