package measure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"trtmc-ranking-proxy/bench/workloads"
)

// probe is what a server must rank to be called ready.
var probe = &workloads.Workload{Name: "probe", Requests: []workloads.Request{{Query: "is it up", Passages: []string{"it is up"}}}}

// readyTimeout bounds the start of the slowest server.
const readyTimeout = 2 * time.Minute

// WaitReady waits until the server ranks, two minutes have passed, ctx ends or exited is closed.
func WaitReady(ctx context.Context, s Server, exited <-chan struct{}) error {
	requests, err := s.Endpoint.Prepare(probe)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		_, err := s.Endpoint.Scores(requests[0], 10*time.Second)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w (last: %w)", s.Name, ctx.Err(), err)
		case <-exited:
			return errors.New(s.Name + " exited")
		case <-time.After(50 * time.Millisecond):
		}
	}
}
