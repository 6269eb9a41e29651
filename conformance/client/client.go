// Package client sends what a case says, over HTTP or as bytes on a socket, and brings back everything that the server answered.
package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// answerMax bounds an answer body; the largest honest one, 512 entries, is far below it.
const answerMax = 16 << 20

// Target is the server under test.
type Target struct {
	Base        *url.URL
	APIKey      string        // sent as a Bearer token unless empty
	Timeout     time.Duration // of one call
	FirstAnswer time.Duration // of raw connections, which ask for nothing that takes long: bound of the first answer
	Quiet       time.Duration // of raw connections: one silent for so long after an answer counts as kept open
	http        *http.Client
}

// NewTarget opens no connection yet.
func NewTarget(base *url.URL, apiKey string, timeout time.Duration) *Target {
	transport := &http.Transport{MaxIdleConnsPerHost: 128, DisableCompression: true}
	return &Target{
		Base: base, APIKey: apiKey, Timeout: timeout, FirstAnswer: 10 * time.Second, Quiet: 2 * time.Second,
		http: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Forget closes idle connections, for use after the server was restarted.
func (t *Target) Forget() { t.http.CloseIdleConnections() }

// Call is one HTTP request.
type Call struct {
	Method string
	Path   string // with the query string
	Header http.Header
	Body   []byte
}

// Answer is one HTTP answer.
type Answer struct {
	Status  int
	Header  http.Header
	Body    []byte
	Elapsed time.Duration // from the start of sending to the last byte of the answer
}

// Do sends a call. An error means that no complete answer came.
func (t *Target) Do(ctx context.Context, c *Call) (*Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, c.Method, t.Base.String()+c.Path, bytes.NewReader(c.Body))
	if err != nil {
		return nil, fmt.Errorf("cannot form the request: %w", err)
	}
	if len(c.Body) > 0 {
		request.Header.Set("Content-Type", "application/json")
	}
	if t.APIKey != "" {
		request.Header.Set("Authorization", "Bearer "+t.APIKey)
	}
	applyHeaders(request, c.Header)
	return t.roundTrip(request)
}

// applyHeaders sets headers; an empty value removes one that would be sent by default.
func applyHeaders(request *http.Request, header http.Header) {
	for name, values := range header {
		if len(values) == 1 && values[0] == "" {
			request.Header.Del(name)
			continue
		}
		request.Header[name] = values
	}
}

func (t *Target) roundTrip(request *http.Request) (*Answer, error) {
	start := time.Now()
	response, err := t.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("no answer: %w", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, answerMax))
	if err != nil {
		return nil, fmt.Errorf("broken answer: %w", err)
	}
	if response.StatusCode >= 500 {
		t.Forget() // a server that failed may drop the connection, which must not be held against the next case
	}
	return &Answer{Status: response.StatusCode, Header: response.Header, Body: body, Elapsed: time.Since(start)}, nil
}
