package soak

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"trtmc-ranking-proxy/conformance/traffic"
)

// Result of a soak.
type Result struct {
	Start   time.Time       `json:"start"`
	Seconds float64         `json:"seconds"`
	Steady  float64         `json:"steady_seconds"` // of the second part
	Seed    uint64          `json:"seed"`
	Faults  map[string]int  `json:"faults"`
	Fates   map[string]int  `json:"fates"` // of requests, by status
	Wrong   []string        `json:"wrong"`
	Account traffic.Account `json:"account"`
	// Unanswered are requests of the second part whose connection failed.
	Unanswered int      `json:"unanswered"`
	Rest       Sample   `json:"rest"` // quiet, before the second part
	End        Sample   `json:"end"`  // quiet, after it
	Samples    []Sample `json:"samples"`
}

// What may be held more at the end than at rest: connections that a last probe left open, threads that a runtime keeps.
const (
	moreFiles      = 5
	moreGoroutines = 8
	moreThreads    = 8
	maxSlope       = 1.0 // MB per minute
	slopeSeconds   = 300 // a slope over less says nothing
)

// Slopes are the growth of resident memory in MB per minute during the second part, and whether that was long enough to judge.
func (r *Result) Slopes() (proxy, task float64, judged bool) {
	proxy = slope(r.Samples, func(s Sample) float64 { return s.Proxy.ResidentMB })
	task = slope(r.Samples, func(s Sample) float64 { return s.Task.ResidentMB })
	return proxy, task, r.Steady >= slopeSeconds
}

// Problems are what a run must not show; none means that it has passed.
func (r *Result) Problems() (found []string) {
	add := func(bad bool, format string, args ...any) {
		if bad {
			found = append(found, fmt.Sprintf(format, args...))
		}
	}
	for _, wrong := range r.Wrong {
		add(true, "wrong answer: %s", wrong)
	}
	a := r.Account
	add(!a.Balanced(), "request ids: %d repeated, %d unknown, %d with another status, %d missing", a.Repeated, a.Unknown, a.Differing, a.Missing)
	add(r.Unanswered > 0, "%d requests without an answer while both processes lived", r.Unanswered)
	add(r.Fates["200"] == 0, "nothing was ranked")
	for fate := range r.Fates {
		add(!slices.Contains(expected, fate), "%d requests met %s", r.Fates[fate], fate)
	}
	r.leaks("proxy", r.Rest.Proxy, r.End.Proxy, add)
	r.leaks("Task", r.Rest.Task, r.End.Task, add)
	proxy, task, judged := r.Slopes()
	add(judged && proxy > maxSlope, "the proxy grows by %.2f MB a minute", proxy)
	add(judged && task > maxSlope, "the Task grows by %.2f MB a minute", task)
	return found
}

// expected are the fates that valid requests may meet under the faults.
var expected = []string{"200", "429", "503", "504", fateName(traffic.Left), fateName(traffic.Unanswered)}

func (r *Result) leaks(name string, rest, end Held, add func(bool, string, ...any)) {
	add(end.Files > rest.Files+moreFiles, "the %s holds %d files at the end, %d at rest", name, end.Files, rest.Files)
	add(end.Threads > rest.Threads+moreThreads, "the %s has %d threads at the end, %d at rest", name, end.Threads, rest.Threads)
	add(end.Goroutines > rest.Goroutines+moreGoroutines, "the %s has %d goroutines at the end, %d at rest", name, end.Goroutines, rest.Goroutines)
}

// Write prints the figures.
func (r *Result) Write(w io.Writer) {
	fmt.Fprintf(w, "soak of %.0f s, seed %d, %s\n\nfaults:\n", r.Seconds, r.Seed, r.Start.Format(time.DateOnly))
	for _, name := range slices.Sorted(maps.Keys(r.Faults)) {
		fmt.Fprintf(w, "  %-28s %6d\n", name, r.Faults[name])
	}
	fmt.Fprintln(w, "\nrequests:")
	for _, fate := range slices.Sorted(maps.Keys(r.Fates)) {
		fmt.Fprintf(w, "  %-28s %6d\n", fate, r.Fates[fate])
	}
	a := r.Account
	fmt.Fprintf(w, "  %-28s %6d\n\nrecords: %d; repeated %d, unknown %d, other status %d, missing %d (and %d not flushed when the proxy was killed)\n",
		"wrong", len(r.Wrong), a.Records, a.Repeated, a.Unknown, a.Differing, a.Missing, a.Excused)
	held := func(name string, rest, end Held) {
		fmt.Fprintf(w, "  %-6s files %d, then %d; threads %d, then %d; goroutines %d, then %d; resident %.0f MB, then %.0f MB\n",
			name, rest.Files, end.Files, rest.Threads, end.Threads, rest.Goroutines, end.Goroutines, rest.ResidentMB, end.ResidentMB)
	}
	fmt.Fprintln(w, "\nheld at rest, before and after the second part:")
	held("proxy", r.Rest.Proxy, r.End.Proxy)
	held("Task", r.Rest.Task, r.End.Task)
	proxy, task, judged := r.Slopes()
	fmt.Fprintf(w, "  growth under load: proxy %+.2f, Task %+.2f MB a minute", proxy, task)
	if !judged {
		fmt.Fprintf(w, " (of a run too short to judge it)")
	}
	fmt.Fprintln(w)
}

func fateName(fate int) string {
	switch fate {
	case traffic.Left:
		return "client left"
	case traffic.Unanswered:
		return "connection failed"
	}
	return strconv.Itoa(fate)
}
