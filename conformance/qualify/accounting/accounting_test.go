package accounting

import (
	"bytes"
	"strings"
	"testing"
)

func TestReadRecords(t *testing.T) {
	f := func(text string, want int, problem string) {
		t.Helper()
		records, err := ReadRecords(strings.NewReader(text))
		if len(records) != want || (err == nil) != (problem == "") || err != nil && !strings.Contains(err.Error(), problem) {
			t.Errorf("%q: %d records, %v", text, len(records), err)
		}
	}
	f("", 0, "")
	f("{\"request_id\":\"a\"}\n{\"request_id\":\"b\",\"timing\":{\"ipc_us\":3}}\n", 2, "")
	f("{\"request_id\":\"a\"}\n{\"request_id\":", 0, "line 2")
	f("{\"status\":200}\n", 0, "line 1")
}

func requests() []Request {
	all := []Request{{Load: "a", ID: "w", Warmup: true, Status: 200, StartUS: 0, EndUS: 900_000, ClientUS: 900_000, Passages: 16}}
	for i := range 10 {
		start := int64(1_000_000 + 200_000*i)
		all = append(all, Request{
			Load: "a", ID: string(rune('0' + i)), Status: 200, StartUS: start, EndUS: start + 200_000, ClientUS: int64(1000 * (i + 1)),
			HandlerUS: 900, IPCUS: 800, QueueUS: 100, CallUS: 600, Tokens: 50, Passages: 16,
		})
	}
	return append(all, Request{Load: "a", ID: "bad", Status: 500, EndUS: 90_000_000}, Request{Load: "b", ID: "other", Status: 200, ClientUS: 1 << 40})
}

func TestFiguresAreOfMeasuredRequestsOnly(t *testing.T) {
	got := NewFigures("a", requests())
	f := func(name string, got, want float64) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	f("requests", float64(got.Requests), 10)
	f("window", got.WindowS, 2)
	f("requests/s", got.RequestsPerS, 5)
	f("passages/s", got.PassagesPerS, 80)
	f("tokens/s", got.TokensPerS, 250)
	f("client p50", got.Client.P50, 5)
	f("client p99", got.Client.P99, 10)
	f("client max", got.Client.Max, 10)
	f("call mean", got.Call.Mean, 0.6)
	if none := NewFigures("nothing", requests()); none.Requests != 0 || none.PassagesPerS != 0 {
		t.Errorf("figures of no requests: %+v", none)
	}
}

func TestRequestsReadBack(t *testing.T) {
	var b bytes.Buffer
	if err := WriteRequests(&b, requests()); err != nil {
		t.Fatal(err)
	}
	read, err := ReadRequests(bytes.NewReader(b.Bytes()))
	if err != nil || len(read) != len(requests()) || read[3] != requests()[3] {
		t.Errorf("%v: %d requests", err, len(read))
	}
	if _, err := ReadRequests(bytes.NewReader(b.Bytes()[:b.Len()/2])); err == nil {
		t.Error("half a file is taken")
	}
}

func FuzzReadRecords(f *testing.F) {
	f.Add("{\"request_id\":\"a\",\"status\":200,\"observation\":{\"scores\":[1.5,-2e-20],\"order\":[0,1]}}\n")
	f.Add("{\"request_id\":\"a\"}\n{\"request_id\":1}")
	f.Fuzz(func(t *testing.T, text string) {
		records, err := ReadRecords(strings.NewReader(text))
		if err != nil && records != nil {
			t.Error("records beside an error")
		}
		for _, r := range records {
			if r.ID == "" {
				t.Error("a record without an id")
			}
		}
	})
}
