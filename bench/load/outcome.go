package load

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Kind is what became of a request.
type Kind string

const (
	OK          Kind = "ok"
	Rejected    Kind = "rejected"     // 429 or 503: the server said that it is busy
	Failed      Kind = "failed"       // any other status but 200
	WrongAnswer Kind = "wrong_answer" // 200 without an entry for each passage
	TimedOut    Kind = "timed_out"
	NoAnswer    Kind = "no_answer" // the connection failed
)

// Kinds in the order of reports.
var Kinds = []Kind{OK, Rejected, Failed, WrongAnswer, TimedOut, NoAnswer}

// Outcome is what a run measured.
type Outcome struct {
	Start  time.Time // of the window
	Window time.Duration

	Counts   map[Kind]int // of the requests that started in the window
	Statuses map[int]int  // of those that were answered
	FirstBad string       // what the first request that was not OK got, for a person to read
	Good     int          // OK within the objective

	CompletedOK       int // in the window, whenever begun
	CompletedPassages int
	CompletedTokens   int // as the server reports them; 0 if it does not

	Latency  *hdrhistogram.Histogram            // of OK requests, microseconds from the intended start
	Rejected *hdrhistogram.Histogram            // of rejected ones
	Classes  map[string]*hdrhistogram.Histogram // of OK requests by class, when the workload names classes
	SendLag  *hdrhistogram.Histogram            // intended start to sending: the share of the generator, or of its bound on connections
	Stages   map[string]*hdrhistogram.Histogram // of OK requests by Server-Timing name, microseconds

	CPU time.Duration // user and system time of this process during the window
}

// Progress is a glance at a run that is under way.
type Progress struct {
	Elapsed  time.Duration // negative during warm-up
	Window   time.Duration
	Started  int // in the window and ended
	OK       int
	Rejected int
	Bad      int           // all others
	P50, P99 time.Duration // so far
}

// newHistogram holds 1 microsecond to an hour with three digits.
func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(time.Hour/time.Microsecond), 3)
}
