package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"time"

	"trtmc-ranking-proxy/bench/workloads"
	"trtmc-ranking-proxy/conformance/wire"
)

// Request is one prepared request: the bytes that go out and what a right answer must have.
type Request struct {
	Wire     []byte
	Passages int
	Class    string
	At       time.Duration // arrival in a replay
}

// Endpoint says how a server is spoken to.
type Endpoint struct {
	Target
	Dialect *wire.Dialect
	Path    string
	Model   string
	Raw     bool // ask for raw scores where the dialect knows raw_scores
}

// NewEndpoint reads the address of a server: http://HOST:PORT, or unix:PATH. An empty path means the dialect's own.
func NewEndpoint(address, dialect, path, model string) (Endpoint, error) {
	d, ok := wire.Dialects[dialect]
	if !ok {
		return Endpoint{}, fmt.Errorf("unknown wire format %q, known are %v", dialect, wire.Names)
	}
	if path == "" {
		path = d.Path
	}
	e := Endpoint{Dialect: d, Path: path, Model: model}
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return Endpoint{}, fmt.Errorf("address of the server: %w", err)
	case u.Scheme == "unix":
		e.Target = Target{Network: "unix", Address: u.Opaque + u.Path}
	case u.Scheme == "http" && u.Port() != "":
		e.Target = Target{Network: "tcp", Address: u.Host}
	default:
		return Endpoint{}, fmt.Errorf("address of the server %q: want http://HOST:PORT or unix:PATH", address)
	}
	return e, nil
}

// Prepare renders every request of the workload.
func (e Endpoint) Prepare(w *workloads.Workload) ([]Request, error) {
	prepared := make([]Request, len(w.Requests))
	for i, r := range w.Requests {
		fields := e.Dialect.Body(e.Model, wire.Request{Query: r.Query, Passages: r.Passages})
		if e.Raw {
			fields["raw_scores"] = true
		}
		body, err := json.Marshal(fields)
		if err != nil {
			return nil, fmt.Errorf("render request %d of %s: %w", i, w.Name, err)
		}
		prepared[i] = Request{
			Wire: e.render(body), Passages: len(r.Passages), Class: r.Class,
			At: time.Duration(r.AtMS * float64(time.Millisecond)),
		}
	}
	return prepared, nil
}

func (e Endpoint) render(body []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", e.Path, e.host(), len(body))
	b.Write(body)
	return b.Bytes()
}

func (e Endpoint) host() string {
	if e.Network == "unix" {
		return "localhost"
	}
	return e.Address
}

// Scores sends one request and returns its scores in passage order, after the checks of a careful client: every passage once, finite
// numbers, sorted descending.
func (e Endpoint) Scores(r Request, timeout time.Duration) ([]float64, error) {
	c := NewClient(e.Target)
	defer c.Close()
	if err := c.Do(r, timeout); err != nil {
		return nil, err
	}
	entries, err := e.Dialect.Entries(c.conn.response.Body())
	if err != nil {
		return nil, err
	}
	return inPassageOrder(entries, r.Passages)
}

func inPassageOrder(entries []wire.Entry, passages int) ([]float64, error) {
	if len(entries) != passages {
		return nil, fmt.Errorf("%d entries for %d passages", len(entries), passages)
	}
	scores, seen := make([]float64, passages), make([]bool, passages)
	for i, entry := range entries {
		switch {
		case entry.Index < 0 || entry.Index >= passages || seen[entry.Index]:
			return nil, fmt.Errorf("entry %d: index %d is out of range or comes twice", i, entry.Index)
		case math.IsInf(entry.Score, 0):
			return nil, fmt.Errorf("entry %d: score %s is not finite", i, entry.Number)
		case i > 0 && entry.Score > entries[i-1].Score:
			return nil, fmt.Errorf("entry %d: scores do not descend", i)
		}
		scores[entry.Index], seen[entry.Index] = entry.Score, true
	}
	return scores, nil
}

var indexKey = []byte(`"index":`)

// complete tells whether the answer has an entry for each passage. It is the cheap check made on every answer.
func complete(body []byte, passages int) bool { return bytes.Count(body, indexKey) == passages }

var tokensKeys = [][]byte{[]byte(`"prompt_tokens":`), []byte(`"total_tokens":`)}

// tokensIn is the usage a server reports, or 0.
func tokensIn(body []byte) int {
	for _, key := range tokensKeys {
		at := bytes.LastIndex(body, key)
		if at < 0 {
			continue
		}
		rest := bytes.TrimLeft(body[at+len(key):], " ")
		end := 0
		for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
			end++
		}
		n, err := strconv.Atoi(string(rest[:end]))
		if err == nil {
			return n
		}
	}
	return 0
}
