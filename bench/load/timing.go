package load

import (
	"iter"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// serverTiming reads the metrics of a Server-Timing header that have a duration (W3C Server Timing: name;dur=milliseconds, ...).
func serverTiming(header []byte) iter.Seq2[string, time.Duration] {
	return func(yield func(string, time.Duration) bool) {
		for metric := range strings.SplitSeq(string(header), ",") {
			name, params, _ := strings.Cut(metric, ";")
			for param := range strings.SplitSeq(params, ";") {
				key, value, _ := strings.Cut(strings.TrimSpace(param), "=")
				if key != "dur" {
					continue
				}
				ms, err := strconv.ParseFloat(value, 64)
				if err == nil && ms >= 0 && !yield(strings.TrimSpace(name), time.Duration(ms*float64(time.Millisecond))) {
					return
				}
			}
		}
	}
}

// watchCPU measures the processor time of this process from start to end. The returned function waits for the end unless it has passed and
// gives the figure; called before the start it gives 0.
func watchCPU(start, end time.Time) (stop func() time.Duration) {
	var atStart, atEnd time.Duration
	started := make(chan struct{})
	ended := make(chan struct{})
	a := time.AfterFunc(time.Until(start), func() { atStart = cpuTime(); close(started) })
	b := time.AfterFunc(time.Until(end), func() { atEnd = cpuTime(); close(ended) })
	return func() time.Duration {
		if a.Stop() {
			b.Stop()
			return 0
		}
		<-started
		if b.Stop() {
			atEnd = cpuTime()
		} else {
			<-ended
		}
		return atEnd - atStart
	}
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
