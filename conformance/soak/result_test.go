package soak

import (
	"bytes"
	"strings"
	"testing"

	"trtmc-ranking-proxy/conformance/traffic"
)

func good() *Result {
	r := &Result{Steady: 1200, Fates: map[string]int{"200": 1000, "503": 3, "client left": 5}, Account: traffic.Account{Records: 1000}}
	for i := range 600 {
		r.Samples = append(r.Samples, Sample{Seconds: float64(2 * i), Proxy: Held{ResidentMB: 40 + float64(i%3)}, Task: Held{ResidentMB: 300}})
	}
	r.Rest = Sample{Proxy: Held{Files: 10, Threads: 8, Goroutines: 12}, Task: Held{Files: 9, Threads: 7}}
	r.End = r.Rest
	return r
}

func TestProblems(t *testing.T) {
	f := func(problem string, spoil func(*Result)) {
		t.Helper()
		r := good()
		spoil(r)
		found := strings.Join(r.Problems(), "\n")
		if (problem == "") != (found == "") || !strings.Contains(found, problem) {
			t.Fatalf("found %q, not %q", found, problem)
		}
		r.Write(new(bytes.Buffer))
	}
	f("", func(*Result) {})
	f("wrong answer", func(r *Result) { r.Wrong = []string{"a"} })
	f("1 missing", func(r *Result) { r.Account.Missing = 1 })
	f("1 repeated", func(r *Result) { r.Account.Repeated = 1 })
	f("", func(r *Result) { r.Account.Excused = 1 })
	f("without an answer", func(r *Result) { r.Unanswered = 1 })
	f("nothing was ranked", func(r *Result) { delete(r.Fates, "200") })
	f("met 500", func(r *Result) { r.Fates["500"] = 1 })
	f("proxy holds 100 files", func(r *Result) { r.End.Proxy.Files = 100 })
	f("Task holds 100 files", func(r *Result) { r.End.Task.Files = 100 })
	f("goroutines", func(r *Result) { r.End.Proxy.Goroutines = 100 })
	f("Task has 100 threads", func(r *Result) { r.End.Task.Threads = 100 })
	grow := func(r *Result) {
		for i := range r.Samples {
			r.Samples[i].Task.ResidentMB += r.Samples[i].Seconds / 60 * 1.5
		}
	}
	f("Task grows by 1.50 MB", grow)
	f("", func(r *Result) { grow(r); r.Steady = 60 })
}
