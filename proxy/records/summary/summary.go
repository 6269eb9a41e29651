// Package summary adds up records files: counts by model and outcome, the distribution of each clock, and throughput, as a table, as
// JSON, or as one HTML page with plots.
package summary

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go" // exact percentiles in bounded memory
)

// Clock is one of the times of a request. They are of three parties and never added up.
type Clock string

// The clocks, from the outermost to the innermost.
const (
	ClockClient  Clock = "client"
	ClockHandler Clock = "handler"
	ClockIPC     Clock = "ipc"
	ClockQueue   Clock = "queue"
	ClockCall    Clock = "public_task_call_wall"
)

// Clocks lists them in that order.
var Clocks = []Clock{ClockClient, ClockHandler, ClockIPC, ClockQueue, ClockCall}

const ok = "ok"

// Summary is what has been read so far. Warm-up requests are counted apart and are in nothing else.
type Summary struct {
	Damage
	Records int
	Warmup  int
	Unsent  int // answers whose client had gone
	First   time.Time
	Last    time.Time // the end of the last request
	Groups  map[Key]*Group

	clients Clients
	points  sampler
	rates   timeline
}

// Key is what requests are grouped by.
type Key struct{ Model, Outcome string }

// Group is the requests of one model with one outcome.
type Group struct {
	Key
	Count     int
	Passages  int64
	Tokens    int64
	Truncated int64
	Times     map[Clock]*hdrhistogram.Histogram // microseconds; a clock that no request had is missing
}

// New returns an empty summary. clients may be nil.
func New(clients Clients) *Summary {
	return &Summary{Groups: make(map[Key]*Group), clients: clients, points: newSampler(), rates: newTimeline()}
}

// Read adds the records of r.
func (s *Summary) Read(r io.Reader) error {
	damage, err := Read(r, s.add)
	s.Garbage += damage.Garbage
	s.Torn += damage.Torn
	return err
}

func (s *Summary) add(l *Line) {
	client, seen := s.clients[l.ID]
	if l.Warmup || client.Warmup {
		s.Warmup++
		return
	}
	s.Records++
	if !l.Sent {
		s.Unsent++
	}
	end := l.Time.Add(time.Duration(l.Timing.Handler) * time.Microsecond)
	if s.First.IsZero() || l.Time.Before(s.First) {
		s.First = l.Time
	}
	if end.After(s.Last) {
		s.Last = end
	}
	g := s.group(Key{l.Task.Model, l.Outcome})
	g.add(l)
	if seen && client.Latency > 0 {
		g.observe(ClockClient, client.Latency.Microseconds())
	}
	s.rates.add(end, l)
	if l.Outcome == ok {
		s.points.add(l)
	}
}

func (s *Summary) group(key Key) *Group {
	g := s.Groups[key]
	if g == nil {
		g = &Group{Key: key, Times: make(map[Clock]*hdrhistogram.Histogram)}
		s.Groups[key] = g
	}
	return g
}

func (g *Group) add(l *Line) {
	g.Count++
	g.observe(ClockHandler, l.Timing.Handler)
	for clock, us := range map[Clock]*int64{ClockIPC: l.Timing.IPC, ClockQueue: l.Timing.Queue, ClockCall: l.Timing.Call} {
		if us != nil {
			g.observe(clock, *us)
		}
	}
	if l.Outcome != ok {
		return // nothing was scored
	}
	g.Passages += l.Observation.Passages
	g.Truncated += l.Observation.Truncated
	if l.Observation.Tokens != nil {
		g.Tokens += *l.Observation.Tokens
	}
}

// longest is the upper bound of a histogram; what is longer counts as this long.
const longest = 3600 * 1e6

func (g *Group) observe(clock Clock, us int64) {
	h := g.Times[clock]
	if h == nil {
		h = hdrhistogram.New(1, longest, 3)
		g.Times[clock] = h
	}
	h.RecordValue(min(us, longest))
}

// Seconds is the time from the arrival of the first request to the end of the last.
func (s *Summary) Seconds() float64 { return s.Last.Sub(s.First).Seconds() }

// Sorted lists the groups by model, the good ones first.
func (s *Summary) Sorted() []*Group {
	return slices.SortedFunc(maps.Values(s.Groups), func(a, b *Group) int {
		if c := cmp.Compare(a.Model, b.Model); c != 0 || a.Outcome == b.Outcome {
			return c
		}
		switch ok {
		case a.Outcome:
			return -1
		case b.Outcome:
			return 1
		}
		return cmp.Compare(a.Outcome, b.Outcome)
	})
}
