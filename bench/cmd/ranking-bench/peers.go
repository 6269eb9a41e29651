package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"trtmc-ranking-proxy/bench/growth"
	"trtmc-ranking-proxy/bench/interleave"
	"trtmc-ranking-proxy/bench/measure"
	"trtmc-ranking-proxy/bench/ours"
	"trtmc-ranking-proxy/bench/peers"
	"trtmc-ranking-proxy/bench/report"
	"trtmc-ranking-proxy/bench/workloads"
)

// peersRun is one `ranking-bench peers`.
type peersRun struct {
	matrix
	names   []string
	places  peers.Places
	rates   []float64
	servers []measure.Server
	table   report.Table // the servers and how true their scores are
}

func peersCommand(ctx context.Context, args []string) error {
	flags := newFlags("peers")
	var p peersRun
	p.add(flags, ours.Models(), []string{"table", "line", "curves"}, 2)
	flags.StringSliceVar(&p.names, "peer", peerNames(), "peers to measure")
	flags.StringVar(&p.places.Model, "model", "../shared/model/minilm-l6-rerank", "original model directory that every peer serves")
	flags.StringVar(&p.places.Built, "built", "build/bench", "what bench/peers/setup.sh made")
	flags.StringVar(&p.places.Sources, "sources", "bench/peers", "the scripts of the peers")
	flags.Float64SliceVar(&p.rates, "rates", []float64{5, 10, 20, 40, 80}, "rates of the plot of latency against rate, W3 requests a second")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := p.begin("Our stack and its peers on the same weights"); err != nil {
		return err
	}
	running, stop, err := p.start(ctx)
	defer stop()
	if err != nil {
		return err
	}
	stopPeers, err := p.startAll(ctx, running)
	defer stopPeers()
	if err != nil {
		return err
	}
	if err := p.section(report.Section{Heading: "Servers", Text: serversText, Table: &p.table}); err != nil {
		return err
	}
	if err := p.runParts(ctx, part{"table", p.compare}, part{"line", p.line}, part{"curves", p.plots}); err != nil {
		return err
	}
	return p.end("peers")
}

const serversText = "Logits against transformers in f32, one pair at a time; and the same pair scored alone and in its request. " +
	"exact: within 0.001. lossy: quantized, so further. wrong: further although it is not quantized."

func peerNames() []string {
	names := make([]string, len(peers.All))
	for i, p := range peers.All {
		names[i] = p.Name
	}
	return names
}

// startAll starts the peers that can run here and checks the scores of all servers.
func (p *peersRun) startAll(ctx context.Context, running []*ours.Running) (stop func(), err error) {
	var started []*peers.Running
	stop = func() {
		for _, r := range started {
			r.Stop()
		}
	}
	p.table.Header = []string{"server", "version", "scores", "largest difference of a logit", "alone and in company", "RSS MB"}
	for _, r := range running {
		if err := p.admit(r.Server, "this tree", r.Variant.Lossy()); err != nil {
			return stop, err
		}
	}
	logs := filepath.Join(p.out, "logs")
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return stop, fmt.Errorf("make directory for logs: %w", err)
	}
	for _, peer := range peers.All {
		if !slices.Contains(p.names, peer.Name) {
			continue
		}
		if reason := peer.Unavailable(p.places); reason != "" {
			say("%s is not measured: %s", peer.Name, reason)
			continue
		}
		say("starting %s", peer.Name)
		r, err := peer.Start(ctx, p.places, logs)
		if err != nil {
			return stop, err
		}
		started = append(started, r)
		if err := p.admit(r.Server, peer.Version(p.places), peer.Lossy); err != nil {
			return stop, err
		}
	}
	return stop, nil
}

func (p *peersRun) admit(server measure.Server, version string, lossy bool) error {
	d, err := peers.Check(server.Endpoint)
	if err != nil {
		return fmt.Errorf("check the scores of %s: %w", server.Name, err)
	}
	p.table.Add(server.Name, version, d.Verdict(lossy), d.FromReference, d.FromAlone, measure.RSSMB(server.PIDs...))
	p.servers = append(p.servers, server)
	return nil
}

func (p *peersRun) compare(ctx context.Context) error {
	results, err := p.matrix.measure(ctx, p.servers, p.cells, p.rounds, p.settings)
	if err != nil {
		return err
	}
	first := p.servers[0].Name
	if err := p.section(report.Section{Heading: "Medians, and " + first + " against each", Text: digests(), Table: report.Compare(results, first)}); err != nil {
		return err
	}
	return p.section(report.Section{Heading: "All measurements", Table: report.Results(results)})
}

func (p *peersRun) line(ctx context.Context) error {
	t, err := headOfLine(ctx, p.servers, p.settings)
	if err != nil {
		return err
	}
	return p.section(report.Section{Heading: "A W3 request behind two W2, ms", Table: t})
}

// plots draws throughput against concurrency, latency against rate, cost against passages and against tokens.
func (p *peersRun) plots(ctx context.Context) error {
	w, err := workloads.Load("W3")
	if err != nil {
		return err
	}
	throughput := func(r *report.Result) report.Point { return report.Point{X: float64(r.Concurrency), Y: r.PassagesPerS} }
	closed := interleave.Cells(w, 1, 4, 16, 64)
	if err := p.plot(ctx, closed, &report.Plot{Title: "W3: throughput against requests in flight (closed loop)", X: "requests in flight", Y: "passages/s", LogX: true}, throughput); err != nil {
		return err
	}
	var open []interleave.Cell
	for _, rate := range p.rates {
		open = append(open, interleave.Cell{Workload: w, Load: measure.OpenPoisson(rate)})
	}
	latency := func(r *report.Result) report.Point { return report.Point{X: r.PlannedRate, Y: r.Latency.P99} }
	if err := p.plot(ctx, open, &report.Plot{Title: "W3: p99 against rate (open loop, Poisson)", X: "requests/s", Y: "p99 ms", LogX: true, LogY: true}, latency); err != nil {
		return err
	}
	return p.curves(ctx, p.servers, []growth.Sweep{growth.Passages, growth.Tokens})
}

func (p *peersRun) plot(ctx context.Context, cells []interleave.Cell, plot *report.Plot, point func(*report.Result) report.Point) error {
	results, err := interleave.Run(ctx, p.servers, cells, 1, p.settings, sayResult)
	if err != nil {
		return err
	}
	p.results = append(p.results, results...)
	for _, server := range p.servers {
		line := report.Line{Name: server.Name}
		for i := range results {
			if results[i].Server == server.Name {
				line.Points = append(line.Points, point(&results[i]))
			}
		}
		plot.Lines = append(plot.Lines, line)
	}
	return p.section(report.Section{Heading: plot.Title, Plot: plot})
}
