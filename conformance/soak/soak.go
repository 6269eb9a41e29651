// Package soak lets clients who know every right answer ask a Task behind a proxy while faults come at random, and then settles the
// account: no answer wrong, no request id missing on either side, nothing leaked.
//
// There are two parts. In the first, processes are killed and restarted too. In the second, of twice the length, come only faults that
// both processes must survive: every request must be answered, and what they hold of memory, descriptors and threads can be followed.
package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"trtmc-ranking-proxy/conformance/stack"
	"trtmc-ranking-proxy/conformance/traffic"
)

// Options of a run.
type Options struct {
	Duration  time.Duration
	Dir       string // for sockets, logs and records
	TaskArgs  []string
	Model     string
	Source    func(ctx context.Context, socket string) (traffic.Source, error) // asked once the Task is there
	Tolerance float64
	Clients   int
	Seed      uint64
	Log       func(format string, args ...any)
}

// Shares of what the clients do.
const (
	leaving = 0.03
	retry   = 50 * time.Millisecond
)

// run is one soak.
type run struct {
	Options
	stack  *stack.Stack
	source traffic.Source
	random *rand.Rand
	result Result
	tally  traffic.Tally
	killed []time.Time // the proxy
}

// Run soaks and returns what was found; the error is for what kept it from finding anything.
func Run(ctx context.Context, o Options) (*Result, error) {
	r := &run{Options: o, random: rand.New(rand.NewPCG(o.Seed, 0)), result: Result{Seed: o.Seed, Faults: make(map[string]int), Start: time.Now().UTC()}}
	records := filepath.Join(o.Dir, "records.jsonl")
	var err error
	r.stack, err = stack.Start(ctx, stack.Config{Dir: o.Dir, TaskArgs: o.TaskArgs, ProxyArgs: []string{
		"--records", records, "--drain-delay", "200ms", "--read-timeout", "5s", "--log-level", "error",
	}})
	if err != nil {
		return nil, err
	}
	defer r.stack.Stop()
	if r.source, err = o.Source(ctx, r.stack.Socket); err != nil {
		return nil, fmt.Errorf("prepare questions: %w", err)
	}
	if err := r.part(ctx, o.Duration/3, 1, append(survived, restarts...)); err != nil {
		return nil, fmt.Errorf("first part: %w", err)
	}
	if err := r.steady(ctx, o.Duration*2/3); err != nil {
		return nil, fmt.Errorf("second part: %w", err)
	}
	r.stack.Stop()
	return &r.result, r.settle(records)
}

// part asks for a while, with faults, and then waits until all is quiet.
func (r *run) part(ctx context.Context, length time.Duration, number uint64, faults []fault) error {
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	crowd := &traffic.Crowd{
		URL: r.stack.URL, Model: r.Model, Source: r.source, Clients: r.Clients, Seed: r.Seed<<8 | number,
		Tolerance: r.Tolerance, Leave: leaving, Pause: retry,
	}
	ended := make(chan struct{})
	go func() { defer close(ended); crowd.Run(ctx, &r.tally) }()
	err := r.inject(ctx, faults)
	cancel()
	<-ended
	if err != nil {
		return err
	}
	return r.quiet()
}

// steady is the second part, watched.
func (r *run) steady(ctx context.Context, length time.Duration) error {
	before := r.tally.Count()[traffic.Unanswered]
	var err error
	if r.result.Rest, err = r.sample(); err != nil {
		return err
	}
	watched, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); r.watch(watched) }()
	err = r.part(ctx, length, 2, survived)
	stop()
	<-done
	if err != nil {
		return err
	}
	r.result.Unanswered = r.tally.Count()[traffic.Unanswered] - before
	r.result.End, err = r.sample()
	return err
}

// quietTime is for the last connections to end, and for the goroutines that fasthttp keeps for new ones up to 20 s.
const quietTime = 25 * time.Second

// quiet waits until the proxy is ready and what was under way has ended.
func (r *run) quiet() error {
	time.Sleep(quietTime)
	return r.ready()
}

func (r *run) settle(path string) error {
	records, err := os.Open(path)
	if err != nil {
		return err
	}
	defer records.Close()
	account, err := r.tally.Settle(records, r.killed)
	if err != nil {
		return err
	}
	r.result.Account, r.result.Wrong, r.result.Fates = *account, r.tally.Wrong(), make(map[string]int)
	for fate, n := range r.tally.Count() {
		r.result.Fates[fateName(fate)] = n
	}
	r.result.Seconds = time.Since(r.result.Start).Seconds()
	r.result.Steady = r.result.Seconds * 2 / 3
	return nil
}
