package measure

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"trtmc-ranking-proxy/bench/load"
	"trtmc-ranking-proxy/bench/workloads"
)

// HeadOfLine is the time of a W3 request alone, and of one that arrives behind two W2 requests: medians.
type HeadOfLine struct{ Alone, Behind time.Duration }

const (
	headOfLineRounds = 3
	// headStart is the lead of the two long requests: enough to be inside the server.
	headStart = 100 * time.Millisecond
)

// MeasureHeadOfLine measures it.
func MeasureHeadOfLine(ctx context.Context, server Server, timeout time.Duration) (HeadOfLine, error) {
	short, err := prepared(server, "W3")
	if err != nil {
		return HeadOfLine{}, err
	}
	long, err := prepared(server, "W2")
	if err != nil {
		return HeadOfLine{}, err
	}
	var alone, behind []time.Duration
	for i := range headOfLineRounds {
		a, err := timed(ctx, server, short[2*i], timeout)
		if err != nil {
			return HeadOfLine{}, err
		}
		b, err := timedBehind(ctx, server, short[2*i+1], long[2*i:2*i+2], timeout)
		if err != nil {
			return HeadOfLine{}, err
		}
		alone, behind = append(alone, a), append(behind, b)
	}
	return HeadOfLine{Alone: middle(alone), Behind: middle(behind)}, nil
}

func prepared(server Server, workload string) ([]load.Request, error) {
	w, err := workloads.Load(workload)
	if err != nil {
		return nil, err
	}
	return server.Endpoint.Prepare(w)
}

func timed(ctx context.Context, server Server, r load.Request, timeout time.Duration) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	start := time.Now()
	if _, err := server.Endpoint.Scores(r, timeout); err != nil {
		return 0, fmt.Errorf("head of line on %s: %w", server.Name, err)
	}
	return time.Since(start), nil
}

// timedBehind waits for the long requests too, so that the next round finds the server idle.
func timedBehind(ctx context.Context, server Server, short load.Request, long []load.Request, timeout time.Duration) (time.Duration, error) {
	var running sync.WaitGroup
	failures := make([]error, len(long))
	for i, r := range long {
		running.Go(func() { _, failures[i] = timed(ctx, server, r, timeout) })
	}
	time.Sleep(headStart)
	d, err := timed(ctx, server, short, timeout)
	running.Wait()
	for _, failure := range failures {
		if err == nil {
			err = failure
		}
	}
	return d, err
}

func middle(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
