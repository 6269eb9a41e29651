package run

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"trtmc-ranking-proxy/conformance/client"
	"trtmc-ranking-proxy/conformance/suite"
)

// A procedure is a case that needs a search, a signal or a choice between steps. It returns what is wrong.
type procedure func(ctx context.Context, c *Config) []string

var procedures = map[string]procedure{
	"token-boundary":        tokenBoundary,
	"drain-accepted":        drained(acceptedFinish),
	"drain-readiness":       drained(readinessTurns),
	"drain-idle":            drained(idleDoesNotHold),
	"drain-second-signal":   drained(secondSignalEnds),
	"drain-unfinished-head": drained(unfinishedHeadDoesNotHold),
}

// heavyRank takes a trained model on a CPU some seconds; a null Task answers at once, which every drain case allows for.
var heavyRank = &suite.Rank{
	Query:    suite.Text{Literal: "which harbour has the narrow bridge"},
	Passages: []suite.Text{{Rule: &suite.Rule{Words: 90, Count: 128}}},
	Truncate: "END",
}

// accepted is long enough for a request written to a local socket to have been read.
const accepted = 300 * time.Millisecond

// drained runs a procedure on a server that runs, and starts it again for the cases that follow.
func drained(body procedure) procedure {
	return func(ctx context.Context, c *Config) (problems []string) {
		if err := c.Server.Start(ctx, c); err != nil {
			return []string{err.Error()}
		}
		problems = body(ctx, c)
		if err := c.Server.Stop(); err != nil {
			problems = append(problems, err.Error())
		}
		if err := c.Server.Start(ctx, c); err != nil {
			problems = append(problems, "after the drain: "+err.Error())
		}
		return problems
	}
}

// inFlight sends n heavy rankings and returns when they have been accepted; wait gives their outcomes.
func (c *Config) inFlight(ctx context.Context, n int) (wait func() []string) {
	outcomes := make([]string, n)
	var calls sync.WaitGroup
	for i := range n {
		calls.Go(func() { outcomes[i] = c.heavy(ctx, i) })
	}
	time.Sleep(accepted)
	return func() []string { calls.Wait(); return outcomes }
}

func (c *Config) heavy(ctx context.Context, i int) string {
	call, err := c.rankCall(heavyRank, ranking(heavyRank, i), i)
	if err != nil {
		return err.Error()
	}
	answer, err := c.Target.Do(ctx, call)
	switch {
	case err != nil:
		return err.Error()
	case answer.Status != http.StatusOK:
		return fmt.Sprintf("status %d: %.200s", answer.Status, answer.Body)
	}
	return ""
}

func acceptedFinish(ctx context.Context, c *Config) (problems []string) {
	wait := c.inFlight(ctx, 3)
	if err := c.Server.terminate(); err != nil {
		return []string{err.Error()}
	}
	for i, outcome := range wait() {
		if outcome != "" {
			problems = append(problems, fmt.Sprintf("accepted request %d: %s", i, outcome))
		}
	}
	return append(problems, problem(c.Server.exits(exitBound))...)
}

func readinessTurns(ctx context.Context, c *Config) (problems []string) {
	wait := c.inFlight(ctx, 3)
	if err := c.Server.terminate(); err != nil {
		return []string{err.Error()}
	}
	time.Sleep(accepted)
	// A refused connection is as clear to a load balancer as a 503.
	answer, err := c.Target.Do(ctx, &client.Call{Method: http.MethodGet, Path: "/v1/health/ready"})
	if err == nil && answer.Status == http.StatusOK {
		problems = append(problems, "still ready after SIGTERM")
	}
	wait()
	return append(problems, problem(c.Server.exits(exitBound))...)
}

func idleDoesNotHold(ctx context.Context, c *Config) []string {
	if !c.ranks(ctx) { // leaves a keep-alive connection open
		return []string{"a small ranking failed"}
	}
	if err := c.Server.terminate(); err != nil {
		return []string{err.Error()}
	}
	return problem(c.Server.exits(idleBound))
}

func secondSignalEnds(ctx context.Context, c *Config) []string {
	wait := c.inFlight(ctx, 3)
	defer wait()
	for range 2 {
		if err := c.Server.terminate(); err != nil {
			return []string{err.Error()}
		}
		time.Sleep(accepted)
	}
	select {
	case <-c.Server.process.Exited():
		return nil
	case <-time.After(3 * time.Second):
		return []string{"still running 3 s after a second SIGTERM"}
	}
}

func unfinishedHeadDoesNotHold(ctx context.Context, c *Config) []string {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	half := []byte(c.fill("POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Le"))
	if err := c.Target.Hold(ctx, [][]byte{half}); err != nil {
		return []string{err.Error()}
	}
	time.Sleep(accepted)
	if err := c.Server.terminate(); err != nil {
		return []string{err.Error()}
	}
	return problem(c.Server.exits(idleBound))
}

func problem(err error) []string {
	if err == nil {
		return nil
	}
	return []string{err.Error()}
}
