package suite

import (
	"strings"
	"testing"
	"testing/fstest"

	"trtmc-ranking-proxy/conformance"
	"trtmc-ranking-proxy/conformance/wire"
)

func TestTheCasesLoad(t *testing.T) {
	procedures := []string{"token-boundary", "drain-accepted", "drain-readiness", "drain-idle", "drain-second-signal", "drain-unfinished-head"}
	themes, err := Load(conformance.Cases(), wire.Names, procedures)
	if err != nil {
		t.Fatal(err)
	}
	if len(themes) < 13 {
		t.Fatalf("%d themes", len(themes))
	}
}

func TestLoadIsStrict(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		_, err := Load(fstest.MapFS{"x.yaml": {Data: []byte(text)}}, []string{"nim"}, []string{"p"})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Fatalf("got %v, want %q for\n%s", err, want, text)
		}
	}
	one := func(fields string) string { return "theme: t\ncases:\n  - {name: a, why: w, " + fields + "}\n" }
	step := func(fields string) string { return one("steps: [{" + fields + "}]") }
	rank := "rank: {query: q, passages: [p]}"

	f(step(rank+", expect: {status: 200}"), "")
	f(one("procedure: p"), "")
	f("theme: t\ncases: []\n", "no cases found")
	f("theme: Not Kebab\ncases: []\n", "kebab")
	f(one("procedure: q"), `unknown procedure "q"`)
	f(one("procedure: p, dialect: [morse]"), `unknown dialect "morse"`)
	f(one("procedure: p, needs: [luck]"), `unknown feature "luck"`)
	f(one("procedure: p, applies: all"), `unknown profile "all"`)
	f(one("procedure: p, colour: red"), "colour")
	f(one("dialect: [nim]"), "either steps or a procedure")
	f("theme: t\ncases:\n  - {name: a, procedure: p}\n", "why is missing")
	f("theme: t\ncases:\n  - {name: A b, why: w, procedure: p}\n", "kebab")
	f("theme: t\ncases:\n  - {name: a, why: w, procedure: p}\n  - {name: a, why: w, procedure: p}\n", "used twice")
	f(step("expect: {status: 200}"), "exactly one of rank, request and raw")
	f(step(rank), "expect says no status")
	f(step(rank+", expect: {status: 2000}"), "is no status")
	f(step(rank+", expect: {status: 200, closed: true}"), "raw step")
	f(step(rank+", expect: {status: 200, same_as: {step: x, bits: true}}"), "no earlier step")
	f(step(rank+", expect: {status: 200, ranking: {sortd: true}}"), "sortd")
	f(step("request: {path: /}, expect: {status: 200, ranking: {sorted: true}}"), "rank step")
	f(step("rank: {query: {wrds: 3}, passages: [p]}, expect: {status: 200}"), "wrds")
	f(step("rank: {query: {words: 3, text: a}, passages: [p]}, expect: {status: 200}"), "exactly one of words")
	f(step("rank: {query: {hex: zz}, passages: [p]}, expect: {status: 200}"), "invalid byte")
	f(step(rank+", expect: {status: 200, json: {a: {matches: '('}}}"), "missing closing")
	f(step(rank+", expect: {status: 200, json: {a: {minimum: 2}}}"), "minimum")
}

func TestTextIsRepeatable(t *testing.T) {
	words := Text{Rule: &Rule{Words: 6, Count: 3}}
	first, again := words.Expand(4, 0), words.Expand(4, 9)
	if len(first) != 3 || strings.Join(first, "|") != strings.Join(again, "|") {
		t.Fatalf("not repeatable: %q and %q", first, again)
	}
	if first[0] == first[1] || len(strings.Fields(first[2])) != 6 {
		t.Fatalf("not %d different texts of 6 words: %q", 3, first)
	}
	varied := Text{Rule: &Rule{Words: 6, Vary: true}}
	if varied.String(1) == varied.String(2) {
		t.Fatal("vary does not vary")
	}
	if got := (Text{Rule: &Rule{Hex: "ff", Times: 2}}).String(0); got != "\xff\xff" {
		t.Fatalf("hex gives %q", got)
	}
}
