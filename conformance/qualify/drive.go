package qualify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"trtmc-ranking-proxy/conformance/qualify/accounting"
	"trtmc-ranking-proxy/conformance/qualify/aiperf"
	"trtmc-ranking-proxy/conformance/qualify/parity"
	"trtmc-ranking-proxy/conformance/stack"
)

// closedLoads are the closed loops. Each covers the whole dataset, twice over in a full run, and begins with a warm-up.
func (r *run) closedLoads() []aiperf.Load {
	if r.Validate {
		return nil
	}
	concurrencies, requests, warmup := []int{1, 2, 4, 8, 16}, 2*len(r.texts.Cases), len(r.texts.Cases)/4
	if r.Short {
		concurrencies, requests, warmup = []int{1, 4}, len(r.texts.Cases)/2, 4
	}
	loads := make([]aiperf.Load, len(concurrencies))
	for i, n := range concurrencies {
		loads[i] = aiperf.Load{Concurrency: n, Requests: requests, Warmup: warmup}
	}
	return loads
}

// rateShare of the best closed loop's rate is what a server should bear steadily.
const rateShare = 0.6

// constantLoad is as long as a closed loop, at two significant digits.
func (r *run) constantLoad() (aiperf.Load, error) {
	best := 0.0
	for _, f := range r.result.Figures {
		best = max(best, f.RequestsPerS)
	}
	load := r.closedLoads()[0]
	load.Concurrency = 0
	var err error
	if load.Rate, err = strconv.ParseFloat(strconv.FormatFloat(rateShare*best, 'g', 2, 64), 64); err != nil || load.Rate <= 0 {
		return load, errors.New("no closed loop had a rate to take a share of")
	}
	return load, nil
}

// driven is what is kept of one run of AIPerf.
type driven struct {
	Account  accounting.Account
	Requests []accounting.Request
}

// drive runs AIPerf at each load and accounts for every request.
func (r *run) drive(ctx context.Context) error {
	loads := r.closedLoads()
	if len(loads) == 0 {
		r.gap("AIPerf has not been run against it")
		return nil
	}
	if err := r.writeInputs(); err != nil {
		return err
	}
	for i := range loads {
		if err := r.driveLoad(ctx, fmt.Sprintf("%d of %d", i+1, len(loads)+1), loads[i]); err != nil {
			return err
		}
	}
	constant, err := r.constantLoad()
	if err != nil {
		return err
	}
	r.result.Identity.Commands = append(r.result.Identity.Commands, r.aiperfCommand(constant))
	return r.driveLoad(ctx, fmt.Sprintf("%d of %[1]d", len(loads)+1), constant)
}

func (r *run) writeInputs() error {
	bodies := make([]json.RawMessage, len(r.cases))
	for i := range r.cases {
		body, err := parity.Body(r.result.Identity.Served.Model, &r.cases[i].Request)
		if err != nil {
			return fmt.Errorf("write AIPerf's inputs: %w", err)
		}
		bodies[i] = body
	}
	tokenizer, err := os.ReadFile(filepath.Join(stack.Root(), tokenizerFile))
	if err != nil {
		return fmt.Errorf("find a tokenizer for AIPerf: %w", err)
	}
	r.aiperf = &aiperf.Program{Path: r.AIPerf, Tokenizer: filepath.Join(r.state.dir, "tokenizer")}
	if err := aiperf.WriteTokenizer(r.aiperf.Tokenizer, tokenizer); err != nil {
		return err
	}
	return aiperf.WriteInputs(r.inputs(), bodies)
}

// tokenizerFile is given to AIPerf, which wants one; it counts nothing with it on this endpoint.
const tokenizerFile = "native/models/minilm-l6-rerank/tokenizer.json"

func (r *run) inputs() string { return filepath.Join(r.state.dir, "inputs.json") }

// driveLoad is one run of AIPerf on programs started for it, so that its records are its own.
func (r *run) driveLoad(ctx context.Context, which string, load aiperf.Load) error {
	r.say("  %s: %s, %d requests after %d of warm-up", which, load.Name(), load.Requests, load.Warmup)
	found, err := once(r.state, fileName(load), func() (*driven, error) {
		a, err := r.measure(ctx, load)
		if err != nil {
			return nil, err
		}
		return &driven{*a, a.Requests}, judge(a.Gates(), a.Unmatched, a.Failures, a.Different, a.Disorder)
	})
	if err != nil {
		return err
	}
	figures := accounting.NewFigures(load.Name(), found.Requests)
	r.result.Accounts = append(r.result.Accounts, found.Account)
	r.result.Figures = append(r.result.Figures, figures)
	r.result.Gates = append(r.result.Gates, found.Account.Gates()...)
	r.requests = append(r.requests, found.Requests...)
	r.say("    %.3g requests/s, %.4g passages/s; p50 of the client %.4g ms, of the Task call %.4g ms; all %d accounted for",
		figures.RequestsPerS, figures.PassagesPerS, figures.Client.P50, figures.Call.P50, found.Account.Matched)
	return nil
}

// fileName is the load's name without what a path or a shell would trip over.
func fileName(load aiperf.Load) string {
	return strings.NewReplacer(" ", "-", ",", "", "/", "-per-").Replace(load.Name())
}

// measure drives the load and joins both sides. An interrupted run leaves no account, and its directory is begun anew.
func (r *run) measure(ctx context.Context, load aiperf.Load) (*accounting.Account, error) {
	dir := filepath.Join(r.state.dir, fileName(load))
	if err := os.RemoveAll(dir); err != nil {
		return nil, fmt.Errorf("begin anew: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make directory for AIPerf: %w", err)
	}
	records := filepath.Join(dir, "records.jsonl")
	err := r.serve(ctx, records, func(s *stack.Stack) error {
		args := r.aiperf.Args(load, s.URL, r.result.Identity.Served.Model, r.inputs(), dir)
		stop := r.watch(records, load.Requests+load.Warmup)
		defer stop()
		return r.aiperf.Run(ctx, args, dir)
	})
	if err != nil {
		return nil, err
	}
	return r.join(load, filepath.Join(dir, aiperf.RawExport), records)
}

func (r *run) join(load aiperf.Load, export, records string) (*accounting.Account, error) {
	exported, err := os.ReadFile(export)
	if err != nil {
		return nil, fmt.Errorf("AIPerf left no raw export: %w", err)
	}
	exchanges, err := aiperf.ReadRaw(bytes.NewReader(exported))
	if err != nil {
		return nil, err
	}
	recorded, err := os.ReadFile(records)
	if err != nil {
		return nil, fmt.Errorf("the proxy left no records: %w", err)
	}
	lines, err := accounting.ReadRecords(bytes.NewReader(recorded))
	if err != nil {
		return nil, err
	}
	return accounting.Join(exchanges, lines, &accounting.Expected{Load: load, Cases: r.cases, BundleDigest: r.result.BundleDigest}), nil
}

// watch tells now and then how many requests the proxy has recorded.
func (r *run) watch(records string, of int) (stop func()) {
	done := make(chan struct{})
	go func() {
		progress := r.count("    answered", of)
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Second):
			}
			if data, err := os.ReadFile(records); err == nil {
				progress(bytes.Count(data, []byte("\n")))
			}
		}
	}()
	return func() { close(done) }
}
