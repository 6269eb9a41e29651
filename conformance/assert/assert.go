// Package assert compares what came back with what a case expects. Every finding is one line for the person who runs the suite.
package assert

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

// Exchange is one call of a step and what came of it.
type Exchange struct {
	Sent    wire.Request // of rank steps
	ID      string       // the X-Request-ID sent, if any
	Answer  *client.Answer
	Talk    *client.Conversation // of raw steps; Answer is then the first one, or nil
	entries []wire.Entry
}

// Checker holds what the checks of one case share.
type Checker struct {
	Dialect *wire.Dialect
	Drift   float64                // bound for same_as with drift, on the logit scale
	Earlier map[string][]*Exchange // by step name
	Largest float64                // drift seen so far
	Drifted bool                   // whether any drift was measured
}

// Check returns what is wrong with call number of a step; nothing means that it is as expected.
func (c *Checker) Check(e *suite.Expect, x *Exchange, call int) []string {
	if x.Talk != nil {
		return c.checkRaw(e, x)
	}
	return append(c.checkAnswer(e, x), c.checkScores(e, x, call)...)
}

func (c *Checker) checkRaw(e *suite.Expect, x *Exchange) (found []string) {
	if e.Answers != nil && len(x.Talk.Answers) != *e.Answers {
		found = append(found, fmt.Sprintf("%d answers on the connection, want %d", len(x.Talk.Answers), *e.Answers))
	}
	if e.Closed != nil && x.Talk.Closed != *e.Closed {
		found = append(found, fmt.Sprintf("connection closed by the server: %t, want %t", x.Talk.Closed, *e.Closed))
	}
	if e.NotInvited && x.Talk.Invited {
		found = append(found, "the server sent 100 Continue")
	}
	if x.Answer != nil {
		return append(found, c.checkAnswer(e, x)...)
	}
	if e.Status != nil && !(e.MayBeSilent && x.Talk.Closed) {
		found = append(found, fmt.Sprintf("no answer, want status %s", strings.Join(*e.Status, " or ")))
	}
	return found
}

func (c *Checker) checkAnswer(e *suite.Expect, x *Exchange) (found []string) {
	a := x.Answer
	if e.Status != nil && !e.Status.Accepts(a.Status) {
		found = append(found, fmt.Sprintf("status %d, want %s: %s", a.Status, strings.Join(*e.Status, " or "), excerpt(a.Body)))
	}
	for name, m := range e.Headers {
		found = append(found, header(name, m, a.Header)...)
	}
	if e.EchoID && a.Header.Get("X-Request-Id") != x.ID {
		found = append(found, fmt.Sprintf("X-Request-ID %q came back as %q", x.ID, a.Header.Get("X-Request-Id")))
	}
	if e.Text != nil {
		found = append(found, value("body", *e.Text, string(a.Body), true)...)
	}
	if e.Error {
		found = append(found, errorForm(c.Dialect, a)...)
	}
	if e.Metrics {
		found = append(found, exposition(a.Body)...)
	}
	if len(e.JSON) > 0 || e.NoNulls || len(e.AtMost) > 0 {
		found = append(found, jsonBody(e, a)...)
	}
	return found
}

func header(name string, m suite.Matcher, h http.Header) []string {
	values := h.Values(name)
	return value("header "+name, m, strings.Join(values, ", "), len(values) > 0)
}

// errorForm demands what every client of the dialect can read: a JSON object with its string fields, and no null anywhere.
func errorForm(d *wire.Dialect, a *client.Answer) (found []string) {
	if kind := a.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
		found = append(found, fmt.Sprintf("error with Content-Type %q, want application/json", kind))
	}
	var body map[string]any
	if err := json.Unmarshal(a.Body, &body); err != nil {
		return append(found, fmt.Sprintf("the error is no JSON object: %s", excerpt(a.Body)))
	}
	for i, field := range d.ErrorFields {
		if text, ok := body[field].(string); !ok || i == 0 && text == "" {
			found = append(found, fmt.Sprintf("error field %q is no text: %s", field, excerpt(a.Body)))
		}
	}
	return append(found, nulls("", body)...)
}

func excerpt(body []byte) string {
	const most = 200
	body = bytes.ToValidUTF8(bytes.TrimSpace(body), []byte("?"))
	if len(body) > most {
		return string(bytes.ToValidUTF8(body[:most], nil)) + "..."
	}
	return string(body)
}
