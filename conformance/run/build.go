package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"trtmc-ranking-proxy/conformance/client"
	"trtmc-ranking-proxy/conformance/suite"
	"trtmc-ranking-proxy/conformance/wire"
)

// smallRank is the {body} of raw cases that say nothing else.
var smallRank = &suite.Rank{
	Query:    suite.Text{Literal: "where do otters sleep"},
	Passages: []suite.Text{{Literal: "Otters doze on their backs among the kelp."}, {Literal: "The ferry leaves at nine."}},
}

// ranking renders one call of a rank.
func ranking(r *suite.Rank, call int) wire.Request {
	request := wire.Request{Query: r.Query.String(call), Passages: []string{}, Truncate: r.Truncate, TopN: r.TopN}
	for _, text := range r.Passages {
		request.Passages = append(request.Passages, text.Expand(len(request.Passages), call)...)
	}
	if n := len(request.Passages); r.Rotate && n > 0 {
		at := call % n
		request.Passages = append(request.Passages[at:len(request.Passages):len(request.Passages)], request.Passages[:at]...)
	}
	return request
}

func (c *Config) rankCall(r *suite.Rank, request wire.Request, call int) (*client.Call, error) {
	fields := c.Dialect.Body(c.Model, request)
	for name, v := range r.Set {
		fields[name] = v
	}
	for _, name := range r.Unset {
		delete(fields, name)
	}
	body, err := encode(fields)
	if err != nil {
		return nil, err
	}
	return &client.Call{Method: http.MethodPost, Path: c.Dialect.Path, Body: replace(body, r.Replace, call)}, nil
}

func (c *Config) literalCall(r *suite.Request, call int) (*client.Call, error) {
	body := []byte(r.Text)
	if r.JSON != nil {
		var err error
		if body, err = encode(r.JSON); err != nil {
			return nil, err
		}
	}
	method, path := r.Method, r.Path
	if method == "" {
		method = http.MethodPost
	}
	if path == "" {
		path = c.Dialect.Path
	}
	return &client.Call{Method: method, Path: c.fill(path), Body: replace([]byte(c.fill(string(body))), r.Replace, call)}, nil
}

func (c *Config) rawChunks(r *suite.Raw, call int) ([][]byte, error) {
	rank := r.Rank
	if rank == nil {
		rank = smallRank
	}
	ranking, err := c.rankCall(rank, ranking(rank, call), call)
	if err != nil {
		return nil, err
	}
	places := strings.NewReplacer("{body}", string(ranking.Body), "{length}", fmt.Sprint(len(ranking.Body)),
		"{hex_length}", fmt.Sprintf("%x", len(ranking.Body)), "{auth}", c.authLine())
	var chunks [][]byte
	for _, chunk := range r.Send {
		chunks = append(chunks, replace([]byte(places.Replace(c.fill(chunk))), r.Replace, call))
	}
	return chunks, nil
}

func (c *Config) authLine() string {
	if c.Target.APIKey == "" {
		return ""
	}
	return "Authorization: Bearer " + c.Target.APIKey + "\r\n"
}

func (c *Config) fill(text string) string {
	return strings.NewReplacer("{model}", c.Model, "{path}", c.Dialect.Path, "{host}", c.Target.Base.Host).Replace(text)
}

// encode is json.Marshal without escaping <, > and &, as most clients write them.
func encode(v any) ([]byte, error) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, fmt.Errorf("cannot encode the body of the case: %w", err)
	}
	return bytes.TrimRight(body.Bytes(), "\n"), nil
}

func replace(body []byte, marks map[string]suite.Text, call int) []byte {
	for mark, text := range marks {
		body = bytes.ReplaceAll(body, []byte(mark), []byte(text.String(call)))
	}
	return body
}
