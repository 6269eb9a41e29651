package tracing

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/ipc/ipctest"
	"trtmc-ranking-proxy/proxy/ranking"
	"trtmc-ranking-proxy/proxy/records"
)

// receiver is an OTLP collector that keeps what it gets.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	spans map[string]*otlp.Span // by name
}

func startReceiver(t *testing.T) *receiver {
	r := &receiver{spans: make(map[string]*otlp.Span)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			t.Error(err)
		}
		var export collector.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &export); err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, resource := range export.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				for _, span := range scope.Spans {
					r.spans[span.Name] = span
				}
			}
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func attributeOf(span *otlp.Span, key string) string {
	for _, a := range span.Attributes {
		if a.Key == key {
			return a.Value.String()
		}
	}
	return ""
}

const (
	traceID  = "4bf92f3577b34da6a3ce929d0e0e4736"
	incoming = "00-" + traceID + "-00f067aa0ba902b7-01"
)

// export sends one request through a tracer and returns what a collector got.
func export(t *testing.T, traceparent string, record func(start time.Time) *records.Record) (passedOn string, spans map[string]*otlp.Span) {
	t.Helper()
	r := startReceiver(t)
	tracer, err := Start(r.URL+"/v1/traces", "1.0", zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	span := tracer.Begin(traceparent, start)
	passedOn = span.Traceparent(traceparent)
	span.End(record(start))
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return passedOn, r.spans
}

func scored(start time.Time) *records.Record {
	task := ipctest.DefaultWelcome()
	return &records.Record{
		ID: "r-1", Time: start, Route: "/v1/ranking", Dialect: "nim", Status: 200, Outcome: "ok", Task: &task, Handler: 10 * time.Millisecond, Decode: time.Millisecond,
		Request: &ranking.Request{Rank: ipc.Rank{Query: "secret", Passages: []string{"secret", "secret"}}},
		Result: ranking.Result{
			Scores: &ipc.Scores{QueueUS: 2000, TokenizeUS: 700, PublicTaskCallWallUS: 4000, Batches: 1},
			Asked:  start.Add(2 * time.Millisecond), RoundTrip: 7 * time.Millisecond, Task: &task,
		},
	}
}

func TestSpans(t *testing.T) {
	passedOn, spans := export(t, incoming, scored)
	f := func(name, parent string, start, took time.Duration) *otlp.Span {
		t.Helper()
		span := spans[name]
		if span == nil {
			t.Fatalf("no span %s in %v", name, spans)
		}
		if parent != "" && string(span.ParentSpanId) != string(spans[parent].SpanId) {
			t.Fatalf("%s is no child of %s", name, parent)
		}
		if from := time.Duration(span.StartTimeUnixNano - spans["ranking"].StartTimeUnixNano); from != start {
			t.Fatalf("%s starts after %v, want %v", name, from, start)
		}
		if got := time.Duration(span.EndTimeUnixNano - span.StartTimeUnixNano); got != took {
			t.Fatalf("%s takes %v, want %v", name, got, took)
		}
		return span
	}
	const ms = time.Millisecond
	root := f("ranking", "", 0, 10*ms)
	f("decode", "ranking", 0, ms)
	f("ipc", "ranking", 2*ms, 7*ms)
	queue := f("queue", "ipc", 2*ms+ms/2, 2*ms)
	f("public_task_call_wall", "ipc", 4*ms+ms/2, 4*ms)
	if len(spans) != 5 {
		t.Fatalf("%d spans", len(spans))
	}
	if attributeOf(queue, "ranking.tokenize_us") != "int_value:700" || !strings.Contains(attributeOf(root, "ranking.request_id"), "r-1") || attributeOf(root, "ranking.passages") != "int_value:2" {
		t.Fatalf("attributes: %v, %v", queue.Attributes, root.Attributes)
	}
	if !strings.HasPrefix(passedOn, "00-"+traceID+"-") || passedOn == incoming {
		t.Fatalf("passed on %s", passedOn)
	}
	for name, span := range spans {
		if strings.Contains(span.String(), "secret") {
			t.Fatalf("a text is in %s", name)
		}
	}
}

func TestFailedRequest(t *testing.T) {
	passedOn, spans := export(t, "", func(start time.Time) *records.Record {
		r := scored(start)
		r.Status, r.Outcome, r.Reason, r.Result = 504, ranking.DeadlineExceeded, "deadline", ranking.Result{Asked: start, RoundTrip: time.Millisecond}
		return r
	})
	if len(spans) != 3 || spans["ranking"].Status.GetCode() != otlp.Status_STATUS_CODE_ERROR || !strings.Contains(attributeOf(spans["ranking"], "error.type"), "deadline_exceeded") {
		t.Fatalf("got %v", spans)
	}
	if len(passedOn) != len(incoming) {
		t.Fatalf("a new trace is passed on as %q", passedOn)
	}
}

func TestTheCallersSamplingIsKept(t *testing.T) {
	passedOn, spans := export(t, strings.TrimSuffix(incoming, "01")+"00", scored)
	if len(spans) != 0 || !strings.HasSuffix(passedOn, "-00") {
		t.Fatalf("exported %v, passed on %s", spans, passedOn)
	}
}

func TestOff(t *testing.T) {
	var tracer *Tracer
	if got := testing.AllocsPerRun(10, func() {
		span := tracer.Begin(incoming, time.Time{})
		if span.Traceparent(incoming) != incoming {
			t.Error("the traceparent is not passed on")
		}
		span.End(nil)
	}); got != 0 {
		t.Fatalf("%v allocations", got)
	}
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}
