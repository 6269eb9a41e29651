package load

import (
	"maps"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// sample is one request that has ended.
type sample struct {
	request              *Request
	intended, sent, done time.Time
	kind                 Kind
	status               int
	tokens               int
	stages               []byte // Server-Timing, valid during record
	detail               string
}

type recorder struct {
	start, end time.Time
	objective  time.Duration

	mu      sync.Mutex
	outcome *Outcome
}

func newRecorder(start time.Time, window, objective time.Duration) *recorder {
	return &recorder{
		start: start, end: start.Add(window), objective: objective,
		outcome: &Outcome{
			Start: start, Window: window, Counts: map[Kind]int{}, Statuses: map[int]int{},
			Latency: newHistogram(), Rejected: newHistogram(), SendLag: newHistogram(),
			Classes: map[string]*hdrhistogram.Histogram{}, Stages: map[string]*hdrhistogram.Histogram{},
		},
	}
}

func (r *recorder) record(s *sample) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.outcome
	if s.kind == OK && !s.done.Before(r.start) && s.done.Before(r.end) {
		o.CompletedOK++
		o.CompletedPassages += s.request.Passages
		o.CompletedTokens += s.tokens
	}
	if s.intended.Before(r.start) || !s.intended.Before(r.end) {
		return
	}
	o.Counts[s.kind]++
	if s.status != 0 {
		o.Statuses[s.status]++
	}
	add(o.SendLag, s.sent.Sub(s.intended))
	latency := s.done.Sub(s.intended)
	switch s.kind {
	case OK:
		r.recordOK(s, latency)
		return
	case Rejected:
		add(o.Rejected, latency)
	}
	if o.FirstBad == "" {
		o.FirstBad = s.detail
	}
}

func (r *recorder) recordOK(s *sample, latency time.Duration) {
	o := r.outcome
	add(o.Latency, latency)
	if r.objective > 0 && latency <= r.objective {
		o.Good++
	}
	if s.request.Class != "" {
		add(named(o.Classes, s.request.Class), latency)
	}
	for name, d := range serverTiming(s.stages) {
		add(named(o.Stages, name), d)
	}
}

// report calls progress once a second until the returned function is called.
func (r *recorder) report(progress func(Progress)) (stop func()) {
	if progress == nil {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				progress(r.progress())
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}

func (r *recorder) progress() Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts := maps.Clone(r.outcome.Counts)
	p := Progress{
		Elapsed: time.Since(r.start), Window: r.outcome.Window, OK: counts[OK], Rejected: counts[Rejected],
		P50: quantile(r.outcome.Latency, 50), P99: quantile(r.outcome.Latency, 99),
	}
	for _, n := range counts {
		p.Started += n
	}
	p.Bad = p.Started - p.OK - p.Rejected
	return p
}

func named(all map[string]*hdrhistogram.Histogram, name string) *hdrhistogram.Histogram {
	h, ok := all[name]
	if !ok {
		h = newHistogram()
		all[name] = h
	}
	return h
}

// add records d rounded up to a microsecond; what lies outside the histogram counts at its ends.
func add(h *hdrhistogram.Histogram, d time.Duration) {
	us := int64((d + time.Microsecond - 1) / time.Microsecond)
	_ = h.RecordValue(min(max(us, h.LowestTrackableValue()), h.HighestTrackableValue())) // within bounds: cannot fail
}

func quantile(h *hdrhistogram.Histogram, percent float64) time.Duration {
	return time.Duration(h.ValueAtQuantile(percent)) * time.Microsecond
}
