package load

import (
	"iter"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// maxMS is the longest duration that is read, of those that a time.Duration holds.
const maxMS = 1e12

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
				if err != nil || ms < 0 || ms > maxMS {
					continue
				}
				if !yield(strings.TrimSpace(name), time.Duration(ms*float64(time.Millisecond))) {
					return
				}
			}
		}
	}
}

// watchCPU measures the processor time of this process from start to end. The returned function gives the figure; called before the end it
// is that of the time until then.
func watchCPU(start, end time.Time) (stop func() time.Duration) {
	stopped, used := make(chan struct{}), make(chan time.Duration, 1)
	wait := func(t time.Time) {
		select {
		case <-time.After(time.Until(t)):
		case <-stopped:
		}
	}
	go func() {
		wait(start)
		atStart := cpuTime()
		wait(end)
		used <- cpuTime() - atStart
	}()
	return func() time.Duration {
		close(stopped)
		return <-used
	}
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
