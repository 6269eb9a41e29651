// Package added measures what the proxy adds to a request: the same ranking straight over the Task's socket and through HTTP, in turn, one at
// a time, by the same process.
package added

import (
	"context"
	"fmt"
	"slices"
	"time"

	"trtmc-ranking-proxy/bench/load"
	"trtmc-ranking-proxy/bench/workloads"
	"trtmc-ranking-proxy/ipc"
)

// Times are those of one request after the other, each sorted.
type Times struct{ Task, HTTP []time.Duration }

// P50 are the medians, and what the second is more.
func (t Times) P50() (task, http, added time.Duration) {
	task, http = t.Task[len(t.Task)/2], t.HTTP[len(t.HTTP)/2]
	return task, http, http - task
}

// Measure sends the workload's requests in turn, each to the socket and to the endpoint, until warmUp and window have passed; those of the
// warm-up do not count.
func Measure(ctx context.Context, socket string, endpoint load.Endpoint, w *workloads.Workload, warmUp, window, timeout time.Duration) (Times, error) {
	requests, err := endpoint.Prepare(w)
	if err != nil {
		return Times{}, err
	}
	task, err := ipc.Dial(ctx, socket, "ranking-bench/1")
	if err != nil {
		return Times{}, fmt.Errorf("connect to the Task: %w", err)
	}
	defer task.Close()
	client := load.NewClient(endpoint.Target)
	defer client.Close()
	var times Times
	begin := time.Now()
	for i := 0; time.Since(begin) < warmUp+window || len(times.HTTP) == 0; i++ {
		n := i % len(requests)
		direct, err := timed(func() error { return rank(ctx, task, w.Requests[n], i, timeout) })
		if err != nil {
			return Times{}, fmt.Errorf("over the socket: %w", err)
		}
		http, err := timed(func() error { return client.Do(requests[n], timeout) })
		if err != nil {
			return Times{}, fmt.Errorf("through the proxy: %w", err)
		}
		if time.Since(begin) > warmUp {
			times.Task, times.HTTP = append(times.Task, direct), append(times.HTTP, http)
		}
	}
	slices.Sort(times.Task)
	slices.Sort(times.HTTP)
	return times, nil
}

func rank(ctx context.Context, task *ipc.Conn, r workloads.Request, i int, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	_, err := task.Rank(ctx, &ipc.Rank{ID: fmt.Sprintf("added-%d", i), Query: r.Query, Passages: r.Passages, Truncate: ipc.TruncateNone})
	return err
}

func timed(f func() error) (time.Duration, error) {
	start := time.Now()
	err := f()
	return time.Since(start), err
}
