package records

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/ipc/ipctest"
	"trtmc-ranking-proxy/proxy/ranking"
)

// scored is a record with every member that a line can have.
func scored(id string, scores ...float32) *Record {
	task := ipctest.DefaultWelcome()
	task.BundleDigest = "sha256:" + strings.Repeat("ab", 32)
	r := &Record{
		ID: id, Time: time.Date(2026, 1, 31, 12, 0, 0, 123456789, time.UTC), Route: "/v1/ranking", Dialect: "nim", Warmup: true, InFlight: 3,
		Status: 200, Outcome: "ok", Sent: true, BodyBytes: 321, Task: &task, Handler: 1500 * time.Microsecond, Decode: 20 * time.Microsecond,
		Request: &ranking.Request{Model: "test-model", Rank: ipc.Rank{Query: "green tea", Truncate: ipc.TruncateEnd, Traceparent: "00-" + strings.Repeat("a", 32) + "-b7ad6b7169203331-01"}},
		Result: ranking.Result{
			Scores:    &ipc.Scores{HasTokens: true, Scores: scores, QueueUS: 10, TokenizeUS: 5, PublicTaskCallWallUS: 100, Batches: 1, Truncated: 1, PaddingTokens: 4},
			RoundTrip: 1200 * time.Microsecond, Task: &task,
		},
	}
	for i := range scores {
		r.Request.Passages = append(r.Request.Passages, strings.Repeat("leaf ", i+1))
		r.Result.PairTokens = append(r.Result.PairTokens, uint32(i+6))
		r.Result.Order = append(r.Result.Order, int32(len(scores)-1-i))
	}
	return r
}

// unparsed is a record of which next to nothing is known.
func unparsed() *Record {
	return &Record{ID: "u1", Time: time.Now(), Route: "unknown", Status: 400, Outcome: ranking.InvalidRequest, Reason: "bad_http", Sent: true}
}

// timedOut is the record of a rank that was sent and not answered.
func timedOut() *Record {
	r := scored("t1", 1)
	r.Status, r.Outcome, r.Reason = 504, ranking.DeadlineExceeded, "deadline"
	r.Result = ranking.Result{RoundTrip: time.Millisecond}
	return r
}

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("record.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("record.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func TestLinesFollowTheSchema(t *testing.T) {
	compiled := schema(t)
	f := func(r *Record, texts bool) {
		t.Helper()
		line := newEncoder(texts).append(nil, r)
		if bytes.Count(line, []byte("\n")) != 1 || line[len(line)-1] != '\n' {
			t.Fatalf("not one line: %q", line)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if err := compiled.Validate(value); err != nil {
			t.Fatalf("%v\n%s", err, line)
		}
	}
	f(scored("full", 1.5, -2, 3e-20), false)
	f(scored("full", 1.5, -2, 3e-20), true)
	f(unparsed(), true)
	f(timedOut(), false)
	hostile := scored("hostile", 1)
	hostile.Request.Model, hostile.Request.Query = strings.Repeat("\u00e9", 100)+"x", "line\nfeed \"quoted\" \u2028 \\ \x00"
	f(hostile, true)
	for _, kind := range append(ranking.Kinds(), "ok") { // the schema's list is the table's
		r := unparsed()
		r.Outcome = kind
		f(r, false)
	}
	r := unparsed()
	r.Outcome = "made_up"
	value, _ := jsonschema.UnmarshalJSON(bytes.NewReader(newEncoder(false).append(nil, r)))
	if compiled.Validate(value) == nil {
		t.Fatal("the schema takes any outcome")
	}
}

func TestLineInFull(t *testing.T) {
	sum := func(parts ...[]byte) []byte { s := sha256.Sum256(bytes.Join(parts, nil)); return s[:] }
	r := scored("r-1", 0.1, -7.25)
	got := string(newEncoder(true).append(nil, r))
	want := `{"request_id":"r-1","time":"2026-01-31T12:00:00.123456Z","route":"/v1/ranking","operation":"ranking","dialect":"nim",` +
		`"backend":"ipctest","task":{"model":"test-model","revision":"","family":"words","precision":"f32","bundle_digest":"` + r.Task.BundleDigest + `"},` +
		`"warmup":true,"in_flight":3,"status":200,"outcome":"ok","reason":"","sent":true,"body_bytes":321,` +
		`"timing":{"handler_us":1500,"decode_us":20,"ipc_us":1200,"queue_us":10,"tokenize_us":5,"public_task_call_wall_us":100,"batches":1},` +
		`"observation":{"model":"test-model","truncate":"END","traceparent":"` + r.Request.Traceparent + `","passages":2,"query_bytes":9,"passage_bytes":[5,10],` +
		`"query_sha256":"` + hex.EncodeToString(sum([]byte("green tea"))) + `","passages_sha256":"` + hex.EncodeToString(sum(sum([]byte("leaf ")), sum([]byte("leaf leaf ")))) + `",` +
		`"query":"green tea","texts":["leaf ","leaf leaf "],"tokens":13,"pair_tokens":[6,7],"truncated":1,"padding_tokens":4,"scores":[0.1,-7.25],"order":[1,0]}}` + "\n"
	if got != want {
		t.Fatalf("got\n%swant\n%s", got, want)
	}
}

func TestTextsAreNotKeptUnlessAskedFor(t *testing.T) {
	if line := newEncoder(false).append(nil, scored("r", 1, 2)); bytes.Contains(line, []byte("green")) || bytes.Contains(line, []byte("leaf")) {
		t.Fatalf("a text is in %s", line)
	}
}

func TestScoresParseBackToTheSameBits(t *testing.T) {
	scores := []float32{0, float32(math.Copysign(0, -1)), math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, 1.0 / 3}
	for len(scores) < 2000 {
		if f := math.Float32frombits(rand.Uint32()); !math.IsNaN(float64(f)) && !math.IsInf(float64(f), 0) {
			scores = append(scores, f)
		}
	}
	var line struct {
		Observation struct{ Scores []float32 } `json:"observation"`
	}
	if err := json.Unmarshal(newEncoder(false).append(nil, scored("r", scores...)), &line); err != nil {
		t.Fatal(err)
	}
	for i, want := range scores {
		if got := line.Observation.Scores[i]; math.Float32bits(got) != math.Float32bits(want) {
			t.Fatalf("score %d: %x became %x", i, math.Float32bits(want), math.Float32bits(got))
		}
	}
}

func TestALineAllocatesNothing(t *testing.T) {
	e, r := newEncoder(false), scored("r", 1, 2, 3)
	buffer := e.append(nil, r)
	if got := testing.AllocsPerRun(100, func() { buffer = e.append(buffer[:0], r) }); got != 0 {
		t.Fatalf("%v allocations", got)
	}
}

func BenchmarkLine(b *testing.B) {
	e, r := newEncoder(false), scored("r", make([]float32, 32)...)
	buffer := e.append(nil, r)
	for b.Loop() {
		buffer = e.append(buffer[:0], r)
	}
}
