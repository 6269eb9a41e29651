package summary

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/ipc/ipctest"
	"trtmc-ranking-proxy/proxy/ranking"
	"trtmc-ranking-proxy/proxy/records"
	"trtmc-ranking-proxy/proxy/telemetry"
)

var start = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// written is a file of the records, as the proxy writes it.
func written(t *testing.T, all ...*records.Record) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "records.jsonl")
	w, err := records.Open(records.Options{Path: path, Full: records.Block, Keep: 1, Log: zerolog.Nop(), Metrics: telemetry.New("test")})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		w.Put(r)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// good is request i of a load of 10 a second: i+1 ms in the handler, of which a tenth each in queue and call, i%4+1 passages of 10 tokens.
func good(i int) *records.Record {
	task := ipctest.DefaultWelcome()
	took := time.Duration(i+1) * time.Millisecond
	r := &records.Record{
		ID: fmt.Sprintf("good-%d", i), Time: start.Add(time.Duration(i) * 100 * time.Millisecond), Route: "/v1/ranking", Dialect: "nim",
		Status: 200, Outcome: "ok", Sent: true, Task: &task, Handler: took, Request: &ranking.Request{},
		Result: ranking.Result{
			RoundTrip: took / 2,
			Scores:    &ipc.Scores{HasTokens: true, QueueUS: uint64(took.Microseconds() / 10), PublicTaskCallWallUS: uint64(took.Microseconds() / 10)},
		},
	}
	for range i%4 + 1 {
		r.Request.Passages = append(r.Request.Passages, "p")
		r.Result.PairTokens = append(r.Result.PairTokens, 10)
		r.Result.Scores.Scores = append(r.Result.Scores.Scores, 1)
	}
	return r
}

func bad(i int, outcome ranking.Kind) *records.Record {
	r := good(i)
	r.Outcome, r.Status, r.Result = outcome, outcome.Status(), ranking.Result{}
	return r
}

func load() (all []*records.Record) {
	for i := range 1000 {
		all = append(all, good(i))
	}
	all = append(all, bad(10, ranking.ServerBusy), bad(20, ranking.ServerBusy), bad(30, ranking.InvalidRequest))
	all[len(all)-1].Sent = false
	warm := good(5000)
	warm.Warmup = true
	return append(all, warm)
}

func read(t *testing.T, clients Clients, files ...[]byte) *Summary {
	t.Helper()
	s := New(clients)
	for _, file := range files {
		if err := s.Read(bytes.NewReader(file)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func summarized(t *testing.T, s *Summary) (r report) {
	t.Helper()
	var b bytes.Buffer
	if err := s.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSummary(t *testing.T) {
	r := summarized(t, read(t, nil, written(t, load()...)))
	if r.Records != 1003 || r.Warmup != 1 || r.Unsent != 1 || r.Garbage+r.Torn != 0 || math.Abs(r.Seconds-100.9) > 1e-9 {
		t.Fatalf("got %+v", r)
	}
	var outcomes []string
	for _, g := range r.Groups {
		outcomes = append(outcomes, fmt.Sprint(g.Outcome, g.Count))
	}
	if fmt.Sprint(outcomes) != "[ok1000 invalid_request1 server_busy2]" {
		t.Fatalf("got %v", outcomes)
	}
	g := r.Groups[0]
	if g.Model != "test-model" || g.Passages != 2500 || g.Tokens != 25000 || math.Abs(g.PassagesS-2500/100.9) > 1e-9 || math.Abs(g.TokensS-25000/100.9) > 1e-9 {
		t.Fatalf("got %+v", g)
	}
	f := func(clock Clock, p50, p99 float64) {
		t.Helper()
		c := g.Clocks[clock]
		if c.Count != 1000 || math.Abs(c.P50-p50) > p50/500 || math.Abs(c.P99-p99) > p99/500 {
			t.Fatalf("%s: got %+v, want %v and %v", clock, c, p50, p99)
		}
	}
	f(ClockHandler, 500, 990)
	f(ClockIPC, 250, 495)
	f(ClockQueue, 50, 99)
	f(ClockCall, 50, 99)
	if len(g.Clocks) != 4 || len(r.Groups[1].Clocks) != 1 {
		t.Fatalf("clocks that nobody measured: %v, %v", g.Clocks, r.Groups[1].Clocks)
	}
	if r.Groups[2].Passages != 0 {
		t.Fatal("passages that were not scored count")
	}
}

func TestFilesAddUp(t *testing.T) {
	one, two := summarized(t, read(t, nil, written(t, load()...))), summarized(t, read(t, nil, written(t, load()[:500]...), written(t, load()[500:]...)))
	if fmt.Sprint(one.Groups) != fmt.Sprint(two.Groups) || one.Records != two.Records {
		t.Fatalf("got\n%+v\n%+v", one, two)
	}
}

func TestDamageIsCountedAndSkipped(t *testing.T) {
	file := written(t, good(1), good(2))
	f := func(content string, records, garbage, torn int) {
		t.Helper()
		r := summarized(t, read(t, nil, []byte(content)))
		if r.Records != records || r.Garbage != garbage || r.Torn != torn {
			t.Fatalf("%.40q: got %d records, %+v", content, r.Records, r.Damage)
		}
	}
	f("", 0, 0, 0)
	f(string(file), 2, 0, 0)
	f(string(file[:len(file)-1]), 1, 0, 1)
	f(string(file)+string(file[:30]), 2, 0, 1)
	f("garbage\n\n{}\n[1]\n"+string(file)+"null\n", 2, 5, 0)
	f(strings.Replace(string(file), `"handler_us":2000`, `"handler_us":-1`, 1), 1, 1, 0)
	f(strings.Replace(string(file), `"handler_us":2000`, `"handler_us":1e300`, 1), 1, 1, 0)
	f(strings.Replace(string(file), `2026`, `0001`, 1), 1, 1, 0)
}

func TestClientClock(t *testing.T) {
	const export = `{"metadata":{"x_request_id":"good-1","benchmark_phase":"profiling"},"metrics":{"request_latency":{"value":7.5,"unit":"ms"}}}
{"metadata":{"x_request_id":"good-2","benchmark_phase":"warmup"},"metrics":{"request_latency":{"value":9,"unit":"ms"}}}
{"metadata":{"x_request_id":"good-3","benchmark_phase":"profiling"},"metrics":{},"error":{"code":503}}
`
	clients, err := ReadAIPerf(strings.NewReader(export))
	if err != nil {
		t.Fatal(err)
	}
	r := summarized(t, read(t, clients, written(t, good(1), good(2), good(3))))
	if c := r.Groups[0].Clocks[ClockClient]; r.Records != 2 || r.Warmup != 1 || c.Count != 1 || math.Abs(c.P50-7.5) > 0.01 {
		t.Fatalf("got %+v", r)
	}
	for _, text := range []string{"no json\n", `{"metrics":{"request_latency":{"value":1,"unit":"days"}}}`} {
		if _, err := ReadAIPerf(strings.NewReader(text)); err == nil {
			t.Fatalf("%q: accepted", text)
		}
	}
}

func TestTables(t *testing.T) {
	var b strings.Builder
	if err := read(t, nil, written(t, load()...), []byte("garbage\n")).WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"1003 records in 100.9 s, 1 warm-up", "lines that are no record: 1", "server_busy", "public_task_call_wall", "passages/s"} {
		if !strings.Contains(b.String(), words) {
			t.Fatalf("lacks %q:\n%s", words, b.String())
		}
	}
}

// The page is whole by itself: nothing in it is fetched or run.
func TestPage(t *testing.T) {
	f := func(files ...[]byte) {
		t.Helper()
		var b bytes.Buffer
		if err := read(t, nil, files...).WriteHTML(&b); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if n := strings.Count(text, "<svg"); n != 5 {
			t.Fatalf("%d plots", n)
		}
		for _, fetched := range []string{"<script", "<link", "<img", "src=", "@import", "url(", "NaN"} {
			if strings.Contains(text, fetched) {
				t.Fatalf("the page has %q", fetched)
			}
		}
	}
	f(written(t, load()...))
	f()
	f(written(t, good(0)))
	f(written(t, bad(0, ranking.ServerBusy)))
	ages := good(1)
	ages.ID, ages.Time = "ages", start.AddDate(100, 0, 0)
	f(written(t, good(0), ages))
	instant := good(1)
	instant.Result.QueueUS, instant.Result.PublicTaskCallWallUS, instant.Handler = 0, 0, 0
	f(written(t, instant))
	f(fmt.Appendf(nil, `{"request_id":"a","time":"2026-01-31T12:00:00Z","outcome":"ok","timing":{"handler_us":%d,"queue_us":0},"observation":{"passages":%[1]d}}`+"\n", int64(maxCount)))
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"request_id":"a","time":"2026-01-31T12:00:00Z","outcome":"ok","sent":true,"timing":{"handler_us":5,"ipc_us":3},"observation":{"passages":2,"tokens":9}}` + "\n"))
	f.Add([]byte(`{"request_id":"a","time":"9999-12-31T23:59:59.999999Z","outcome":"server_busy","timing":{"handler_us":1099511627776}}` + "\nxx\n{"))
	f.Add([]byte("\n\n\x00"))
	f.Fuzz(func(t *testing.T, content []byte) {
		s := New(nil)
		if err := s.Read(bytes.NewReader(content)); err != nil {
			t.Fatal(err)
		}
		if lines := s.Records + s.Warmup + s.Garbage; lines != bytes.Count(content, []byte("\n")) {
			t.Fatalf("%d lines accounted for", lines)
		}
		if err := s.WriteJSON(new(bytes.Buffer)); err != nil {
			t.Fatal(err)
		}
	})
}
