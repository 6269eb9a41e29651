package load

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"trtmc-ranking-proxy/bench/workloads"
	"trtmc-ranking-proxy/conformance/wire"
)

func TestPreparedRequestsParseInEveryDialect(t *testing.T) {
	f := func(dialect string, texts ...string) {
		t.Helper()
		e, err := NewEndpoint("http://127.0.0.1:8000", dialect, "", "m")
		if err != nil {
			t.Fatal(err)
		}
		prepared, err := e.Prepare(&workloads.Workload{Requests: []workloads.Request{{Query: "q ü \"x\"", Passages: []string{"first", "second\n"}}}})
		if err != nil {
			t.Fatal(err)
		}
		var r fasthttp.Request
		if err := r.Read(bufio.NewReader(bytes.NewReader(prepared[0].Wire))); err != nil {
			t.Fatalf("%s: %v", dialect, err)
		}
		var fields any
		if err := json.Unmarshal(r.Body(), &fields); err != nil || !bytes.HasSuffix(prepared[0].Wire, r.Body()) {
			t.Fatalf("%s: body %q: %v", dialect, r.Body(), err)
		}
		if string(r.Header.Method()) != "POST" || string(r.RequestURI()) != wire.Dialects[dialect].Path || string(r.Host()) != "127.0.0.1:8000" {
			t.Errorf("%s: %s %s to %s", dialect, r.Header.Method(), r.RequestURI(), r.Host())
		}
		for _, text := range texts {
			if !strings.Contains(string(r.Body()), text) {
				t.Errorf("%s: %s lacks %s", dialect, r.Body(), text)
			}
		}
	}
	f("nim", `"query":{"text":"q ü \"x\""}`, `{"text":"second\n"}`, `"model":"m"`)
	f("tei", `"texts":["first","second\n"]`)
	f("cohere", `"documents":["first","second\n"]`)
	f("jina", `"documents":["first","second\n"]`)
}

func TestEndpointRefusesAddresses(t *testing.T) {
	f := func(address, dialect string) {
		t.Helper()
		if _, err := NewEndpoint(address, dialect, "", "m"); err == nil {
			t.Errorf("%s %s was accepted", address, dialect)
		}
	}
	f("http://127.0.0.1", "nim")
	f("https://127.0.0.1:1", "nim")
	f("127.0.0.1:8000", "nim")
	f("http://127.0.0.1:8000", "grpc")
}

func TestScoresAreCheckedAsACarefulClientWould(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		e := startServer(t, func(ctx *fasthttp.RequestCtx) { ctx.SetBodyString(body) })
		scores, err := e.Scores(twoPassages(t, e)[0], time.Minute)
		switch {
		case want == "" && (err != nil || scores[0] != -1 || scores[1] != 0.5):
			t.Errorf("%s: %v, %v", body, scores, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: got %v, want %q", body, err, want)
		}
	}
	f(twoEntries, "")
	f(`{"rankings":[{"index":0,"logit":1}]}`, "1 entries for 2")
	f(`{"rankings":[{"index":0,"logit":1},{"index":0,"logit":1}]}`, "comes twice")
	f(`{"rankings":[{"index":0,"logit":1},{"index":2,"logit":1}]}`, "out of range")
	f(`{"rankings":[{"index":0,"logit":1},{"index":1,"logit":2}]}`, "do not descend")
	f(`{"rankings":[{"index":0,"logit":1e999},{"index":1,"logit":2}]}`, "not finite")
}

func TestTokensIn(t *testing.T) {
	f := func(body string, want int) {
		t.Helper()
		if got := tokensIn([]byte(body)); got != want {
			t.Errorf("%s: got %d, want %d", body, got, want)
		}
	}
	f(twoEntries, 21)
	f(`{"usage":{"prompt_tokens": 7}}`, 7)
	f(`{"usage":{"total_tokens":8}}`, 8)
	f(`{"usage":{"prompt_tokens":"9"}}`, 0)
	f(`{"usage":{"prompt_tokens":`, 0)
	f(`[]`, 0)
}

func TestServerTiming(t *testing.T) {
	f := func(header string, want map[string]time.Duration) {
		t.Helper()
		got := map[string]time.Duration{}
		for name, d := range serverTiming([]byte(header)) {
			got[name] = d
		}
		if len(got) != len(want) {
			t.Errorf("%q: got %v, want %v", header, got, want)
		}
		for name, d := range want {
			if got[name] != d {
				t.Errorf("%q: %s is %v, want %v", header, name, got[name], d)
			}
		}
	}
	f("", nil)
	f("queue;dur=1.5, call;desc=\"x\";dur=20", map[string]time.Duration{"queue": 1500 * time.Microsecond, "call": 20 * time.Millisecond})
	f("hit, broken;dur=x, negative;dur=-1, beyond;dur=44444444444444, endless;dur=1e300, last;dur=0.001", map[string]time.Duration{"last": time.Microsecond})
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(twoEntries), "queue;dur=1")
	f.Add([]byte(`{"rankings":[{"index":0,"logit":1},{"index":1,"logit":-2}]}`), "a;b;dur=2,c")
	f.Add([]byte(`"prompt_tokens":`), ";;;dur=,")
	f.Fuzz(func(t *testing.T, body []byte, header string) {
		if n := tokensIn(body); n < 0 {
			t.Errorf("negative count of tokens %d", n)
		}
		for name, d := range serverTiming([]byte(header)) {
			if d < 0 {
				t.Errorf("%s: negative duration %v", name, d)
			}
		}
		entries, err := wire.Dialects["nim"].Entries(body)
		if err != nil {
			return
		}
		scores, err := inPassageOrder(entries, 2)
		if err != nil {
			return
		}
		for _, score := range scores {
			if math.IsNaN(score) || math.IsInf(score, 0) {
				t.Errorf("accepted the score %v", score)
			}
		}
	})
}

// Percentiles of known distributions, through the recorder as a run uses it.
func TestPercentilesOfKnownDistributions(t *testing.T) {
	start := time.Now()
	f := func(name string, draw func(i int) time.Duration, want map[float64]time.Duration) {
		t.Helper()
		r := newRecorder(start, time.Hour, 0)
		for i := range 100_000 {
			r.record(&sample{request: &Request{}, intended: start, sent: start, done: start.Add(draw(i)), kind: OK})
		}
		for percent, d := range want {
			got := quantile(r.outcome.Latency, percent)
			if diff := float64(got-d) / float64(d); diff < -0.02 || diff > 0.02 {
				t.Errorf("%s: p%v is %v, want %v", name, percent, got, d)
			}
		}
	}
	f("uniform", func(i int) time.Duration { return time.Duration(i+1) * time.Microsecond }, map[float64]time.Duration{
		50: 50_000 * time.Microsecond, 90: 90_000 * time.Microsecond, 99: 99_000 * time.Microsecond, 99.9: 99_900 * time.Microsecond, 100: 100_000 * time.Microsecond,
	})
	source := rand.New(rand.NewPCG(3, 4))
	f("exponential", func(int) time.Duration { return time.Duration(source.ExpFloat64() * 1e7) }, map[float64]time.Duration{
		50: 6931 * time.Microsecond, 90: 23026 * time.Microsecond, 99: 46052 * time.Microsecond,
	})
	f("two points", func(i int) time.Duration {
		if i%100 == 0 {
			return time.Second
		}
		return time.Millisecond
	}, map[float64]time.Duration{50: time.Millisecond, 98.9: time.Millisecond, 99.5: time.Second})
}
