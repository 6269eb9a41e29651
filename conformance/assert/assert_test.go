package assert

import (
	"encoding/json"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"trtmc-ranking-proxy/conformance/client"
	"trtmc-ranking-proxy/conformance/suite"
	"trtmc-ranking-proxy/conformance/wire"
)

func TestMatcher(t *testing.T) {
	f := func(matcher, text string, want string) {
		t.Helper()
		var m suite.Matcher
		if err := yaml.Unmarshal([]byte(matcher), &m); err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(value("x", m, v, true), "; ")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Fatalf("%s on %s: got %q, want %q", matcher, text, got, want)
		}
	}
	f(`3`, `3`, "")
	f(`3`, `4`, "want 3")
	f(`text`, `"text"`, "")
	f(`true`, `false`, "want true")
	f(`{type: integer}`, `3`, "")
	f(`{type: integer}`, `3.5`, "type integer")
	f(`{type: string}`, `null`, "type string")
	f(`{min: 2, max: 3}`, `2.5`, "")
	f(`{min: 2}`, `1`, "at least 2")
	f(`{max: 2}`, `"9"`, "at most 2")
	f(`{contains: [a, b]}`, `"ab"`, "")
	f(`{contains: [a, c]}`, `"ab"`, `does not contain "c"`)
	f(`{contains: [ranking]}`, `{"/v1/ranking":{}}`, "")
	f(`{not_contains: [b]}`, `"ab"`, `contains "b"`)
	f(`{matches: '^a+$'}`, `"aab"`, "does not match")
	f(`{non_empty: true}`, `[]`, "is empty")
	f(`{absent: true}`, `1`, "is present")
}

func TestAbsentValues(t *testing.T) {
	if found := value("x", suite.Matcher{Absent: true}, nil, false); len(found) > 0 {
		t.Fatal(found)
	}
	if found := value("x", suite.Matcher{}, nil, false); len(found) != 1 {
		t.Fatalf("an absent value passes a matcher: %v", found)
	}
}

func TestExposition(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		got := strings.Join(exposition([]byte(text)), "; ")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	f("# HELP a_total A.\n# TYPE a_total counter\na_total{x=\"y\"} 1\n", "")
	f("# HELP h H.\n# TYPE h histogram\nh_bucket{le=\"+Inf\"} 1\nh_sum 2\nh_count 1\n", "")
	f("# TYPE a_total counter\na_total 1\n", "no HELP")
	f("# HELP a_total A.\na_total 1\n", "no TYPE")
	f("a_total one\n", "not Prometheus text")
	f("", "no metrics")
}

func TestSameAsComparesByPassageAndScale(t *testing.T) {
	exchange := func(body string, passages ...string) *Exchange {
		return &Exchange{Sent: wire.Request{Passages: passages}, Answer: &client.Answer{Status: 200, Body: []byte(body)}}
	}
	f := func(dialect string, s suite.SameAs, earlier, now *Exchange, want string) {
		t.Helper()
		s.Step = "first"
		c := Checker{Dialect: wire.Dialects[dialect], Drift: 0.04, Earlier: map[string][]*Exchange{"first": {earlier}}}
		got := strings.Join(c.checkScores(&suite.Expect{SameAs: &s}, now, 5), "; ")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	first := exchange(`{"rankings":[{"index":1,"logit":2},{"index":0,"logit":1}]}`, "a", "b")
	swapped := exchange(`{"rankings":[{"index":0,"logit":2},{"index":1,"logit":1}]}`, "b", "a")
	f("nim", suite.SameAs{Bits: true}, first, swapped, "")
	f("nim", suite.SameAs{Bits: true, PerIndex: true}, first, swapped, "1 apart")
	f("nim", suite.SameAs{Bits: true, Order: true}, first, swapped, "order")
	f("nim", suite.SameAs{Drift: true}, first, exchange(`{"rankings":[{"index":0,"logit":2.03}]}`, "b"), "")
	f("nim", suite.SameAs{Drift: true}, first, exchange(`{"rankings":[{"index":0,"logit":2.05}]}`, "b"), "apart")
	f("nim", suite.SameAs{Bits: true}, first, exchange(`{"rankings":[{"index":0,"logit":2.0000001}]}`, "b"), "")
	f("nim", suite.SameAs{Bits: true}, first, exchange(`{"rankings":[{"index":0,"logit":2.0000003}]}`, "b"), "apart")
	f("nim", suite.SameAs{Drift: true}, first, exchange(`{"rankings":[{"index":0,"logit":2}]}`, "c"), "shares no passage")
	f("nim", suite.SameAs{Drift: true}, exchange(`{"rankings":[{"index":0,"logit":1e999}]}`, "a"), exchange(`{"rankings":[{"index":0,"logit":1e999}]}`, "a"), "apart")
	f("nim", suite.SameAs{Drift: true}, exchange(`oops`, "a"), first, "cannot be compared")
	squashed := exchange(`{"results":[{"index":0,"relevance_score":0.5}]}`, "a")
	f("jina", suite.SameAs{Drift: true}, squashed, exchange(`{"results":[{"index":0,"relevance_score":0.509}]}`, "a"), "")
	f("jina", suite.SameAs{Drift: true}, squashed, exchange(`{"results":[{"index":0,"relevance_score":0.52}]}`, "a"), "apart")
}
