package aiperf

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const line = `{"metadata":{"x_request_id":"r1","benchmark_phase":"profiling","request_start_ns":1000,"request_end_ns":5000,"worker_id":"w"},` +
	`"start_perf_ns":200,"request_headers":{"X-Request-ID":"r1"},"status":200,"responses":[{"perf_ns":3200,"text":"{\"rankings\":[]}"}],` +
	`"payload":{"model":"m","query":{"text":"q"},"passages":[{"text":"a"},{"text":"b"}],"truncate":"END"}}`

func TestReadRaw(t *testing.T) {
	failed := strings.NewReplacer(`"status":200`, `"status":429,"error":{"code":429,"type":"Too Many","message":"quotes"}`, "profiling", "warmup").Replace(line)
	all, err := ReadRaw(strings.NewReader(line + "\n" + failed + "\n"))
	if err != nil || len(all) != 2 {
		t.Fatalf("%v: %v", err, all)
	}
	e := all[0]
	if e.ID != "r1" || e.Warmup || e.Query != "q" || !slices.Equal(e.Passages, []string{"a", "b"}) || e.Latency != 3*time.Microsecond ||
		e.Status != 200 || string(e.Body) != `{"rankings":[]}` || e.Failure != "" || e.End.Sub(e.Start) != 4*time.Microsecond {
		t.Errorf("%+v", e)
	}
	if w := all[1]; !w.Warmup || w.Status != 429 || w.Failure != "429 Too Many" {
		t.Errorf("%+v", w)
	}
}

func TestReadRawRefuses(t *testing.T) {
	f := func(problem, text string) {
		t.Helper()
		if _, err := ReadRaw(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("got %v, want %q", err, problem)
		}
	}
	f("line 2", line+"\n{")
	f(`phase "cooldown"`, strings.Replace(line, "profiling", "cooldown", 1))
	f(`request id ""`, strings.Replace(line, `"x_request_id":"r1"`, `"x_request_id":""`, 1))
}

func FuzzReadRaw(f *testing.F) {
	f.Add([]byte(line))
	f.Add([]byte(line[:len(line)-1] + `,"error":{"code":null}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := ReadRaw(strings.NewReader(string(data)))
		for _, e := range all {
			if err == nil && e.ID == "" {
				t.Error("an exchange without an id")
			}
		}
	})
}

func TestArgs(t *testing.T) {
	p := Program{Path: "aiperf", Tokenizer: "tok"}
	f := func(l Load, name string, want, without string) {
		t.Helper()
		args := strings.Join(p.Args(l, "http://h", "m", "in.json", "out"), " ")
		if l.Name() != name || !strings.Contains(args, want) || strings.Contains(args, without) || !strings.Contains(args, "--export-level raw") {
			t.Errorf("%s: %s", l.Name(), args)
		}
	}
	f(Load{Concurrency: 4, Requests: 10, Warmup: 2}, "closed loop, 4 in flight", "--concurrency 4", "--request-rate")
	f(Load{Rate: 2.5, Requests: 10}, "constant rate 2.5/s", "--request-rate 2.5 --request-rate-mode constant", "--concurrency")
}

func TestRunTellsWhatAIPerfSaid(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "aiperf")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"no such $1\"\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := Program{Path: program}
	err := p.Run(t.Context(), []string{"endpoint"}, filepath.Join(dir, "out"))
	if err == nil || !strings.Contains(err.Error(), "no such endpoint") {
		t.Errorf("got %v", err)
	}
}

func TestInputsAreVerbatim(t *testing.T) {
	path := filepath.Join(t.TempDir(), "inputs.json")
	if err := WriteInputs(path, []json.RawMessage{[]byte(`{"a":1}`), []byte(`{"b":2}`)}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if want := `{"data":[{"session_id":"case-0","payloads":[{"a":1}]},{"session_id":"case-1","payloads":[{"b":2}]}]}`; err != nil || string(data) != want {
		t.Errorf("%v: %s", err, data)
	}
}
