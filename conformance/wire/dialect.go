// Package wire writes a ranking in each dialect and reads the answer, strictly: what a real client would trip over is an error here.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Request is a ranking in terms that every dialect has.
type Request struct {
	Query    string
	Passages []string
	Truncate string // NONE, END or empty
	TopN     int    // 0: all
}

// Entry is one line of the answer.
type Entry struct {
	Index  int
	Score  float64
	Number string // the score as it was written
}

// Float32 is the score as the Task computed it, if the server wrote enough digits.
func (e Entry) Float32() float32 { return float32(e.Score) }

// Dialect is one wire format.
type Dialect struct {
	Name        string
	Path        string   // of the ranking call
	Squashed    bool     // scores are in 0..1
	ErrorFields []string // string fields of an error body; the first is never empty
	list        string   // key of the entries; empty: the body is the list
	score       string   // key of an entry's score
	body        func(model string, r Request) map[string]any
}

// Dialects are the wire formats by name.
var Dialects = map[string]*Dialect{
	"nim": {
		Name: "nim", Path: "/v1/ranking", ErrorFields: []string{"error", "message", "detail"},
		list: "rankings", score: "logit", body: nimBody,
	},
	"tei": {
		Name: "tei", Path: "/rerank", Squashed: true, ErrorFields: []string{"error", "error_type"},
		score: "score", body: teiBody,
	},
	"cohere": {
		Name: "cohere", Path: "/v2/rerank", Squashed: true, ErrorFields: []string{"message"},
		list: "results", score: "relevance_score", body: documentsBody,
	},
	"jina": {
		Name: "jina", Path: "/v1/rerank", Squashed: true, ErrorFields: []string{"detail"},
		list: "results", score: "relevance_score", body: documentsBody,
	},
}

// Names lists the dialects in the order of the documentation.
var Names = []string{"nim", "tei", "cohere", "jina"}

// Body is the request in this dialect, ready for changes by a case. The model is left out where the dialect has no place for it.
func (d *Dialect) Body(model string, r Request) map[string]any { return d.body(model, r) }

func nimBody(model string, r Request) map[string]any {
	passages := make([]map[string]string, len(r.Passages))
	for i, text := range r.Passages {
		passages[i] = map[string]string{"text": text}
	}
	body := map[string]any{"model": model, "query": map[string]string{"text": r.Query}, "passages": passages}
	if r.Truncate != "" {
		body["truncate"] = r.Truncate
	}
	return body
}

func teiBody(_ string, r Request) map[string]any {
	body := map[string]any{"query": r.Query, "texts": r.Passages}
	if r.Truncate != "" {
		body["truncate"] = r.Truncate == "END"
	}
	return body
}

func documentsBody(model string, r Request) map[string]any {
	body := map[string]any{"model": model, "query": r.Query, "documents": r.Passages}
	if r.TopN > 0 {
		body["top_n"] = r.TopN
	}
	return body
}

// Entries reads the ranking out of an answer, in the order sent.
func (d *Dialect) Entries(body []byte) ([]Entry, error) {
	raw := json.RawMessage(body)
	if d.list != "" {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(body, &object); err != nil {
			return nil, fmt.Errorf("the answer is no JSON object: %w", err)
		}
		raw = object[d.list]
	}
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
		return nil, fmt.Errorf("the answer has no array of entries (%q)", d.list)
	}
	var items []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, fmt.Errorf("cannot read the entries: %w", err)
	}
	entries := make([]Entry, len(items))
	for i, item := range items {
		var err error
		if entries[i], err = d.entry(item); err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
	}
	return entries, nil
}

func (d *Dialect) entry(item map[string]json.RawMessage) (Entry, error) {
	index, err := strconv.Atoi(string(item["index"]))
	if err != nil {
		return Entry{}, fmt.Errorf("index %s is no integer", item["index"])
	}
	number := string(item[d.score])
	score, err := strconv.ParseFloat(number, 64) // also refuses a quoted number, null and an absent field
	if errors.Is(err, strconv.ErrSyntax) || math.IsNaN(score) {
		return Entry{}, fmt.Errorf("%s %q is no number", d.score, number)
	}
	return Entry{Index: index, Score: score, Number: number}, nil
}
