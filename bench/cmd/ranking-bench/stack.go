package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"trtmc-ranking-proxy/bench/added"
	"trtmc-ranking-proxy/bench/growth"
	"trtmc-ranking-proxy/bench/hop"
	"trtmc-ranking-proxy/bench/load"
	"trtmc-ranking-proxy/bench/measure"
	"trtmc-ranking-proxy/bench/ours"
	"trtmc-ranking-proxy/bench/report"
	"trtmc-ranking-proxy/bench/workloads"
)

// stackRun is one `ranking-bench stack`.
type stackRun struct {
	matrix
	speed   float64
	running []*ours.Running
	servers []measure.Server // the same
}

func stackCommand(ctx context.Context, args []string) error {
	flags := newFlags("stack")
	var s stackRun
	s.add(flags, ours.Defaults(), []string{"tables", "added", "hop", "mixed", "growth"}, 1)
	flags.Float64Var(&s.speed, "speed", 1, "speed of the W6 replay: W6 asks for one W2 a second, more than two cores may manage")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := s.begin("Our stack"); err != nil {
		return err
	}
	running, stop, err := s.start(ctx)
	defer stop()
	if err != nil {
		return err
	}
	s.running = running
	for _, r := range running {
		s.servers = append(s.servers, r.Server)
	}
	err = s.runParts(ctx, part{"tables", s.tables}, part{"added", s.added}, part{"hop", s.hop}, part{"mixed", s.mixed}, part{"growth", s.growth})
	if err != nil {
		return err
	}
	return s.end("stack")
}

// tables measures every Task and splits its requests by stage.
func (s *stackRun) tables(ctx context.Context) error {
	settings := s.settings
	settings.Stages = true
	results, err := s.matrix.measure(ctx, s.servers, s.cells, s.rounds, settings)
	if err != nil {
		return err
	}
	for _, section := range []report.Section{
		{Heading: "Workloads", Text: digests(), Table: report.Results(results)},
		{Heading: "Where the mean time of a request goes, ms", Text: budgetText, Table: report.Budget(results)},
		{Heading: "Stages, ms", Table: report.Stages(results)},
	} {
		if err := s.section(section); err != nil {
			return err
		}
	}
	return nil
}

const budgetText = "The stages are those of the proxy's Server-Timing header; client time is the generator's. Each column is a difference of means, so the row adds up to the client's mean."

// added compares each Task's socket with the proxy before it.
func (s *stackRun) added(ctx context.Context) error {
	table := &report.Table{Header: []string{"server", "workload", "requests", "Task's socket p50 ms", "through the proxy p50 ms", "added ms"}}
	for _, workload := range []string{"W3", "W1"} {
		w, err := workloads.Load(workload)
		if err != nil {
			return err
		}
		for _, r := range s.running {
			times, err := added.Measure(ctx, r.Socket(), r.Endpoint, w, s.settings.WarmUp, s.settings.Window, s.settings.Timeout)
			if err != nil {
				return fmt.Errorf("added on %s: %w", r.Name, err)
			}
			task, http, more := times.P50()
			table.Add(r.Name, workload, len(times.Task), ms(task), ms(http), ms(more))
		}
	}
	return s.section(report.Section{Heading: "What the proxy adds", Text: addedText, Table: table})
}

const addedText = "The same request over the Task's socket and through HTTP, proxy and socket, in turn, one at a time, by the same process."

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// hop compares the proxy before the null Task with nginx before a trivial server.
func (s *stackRun) hop(ctx context.Context) error {
	if _, err := hop.Program(); err != nil {
		say("hop not measured: %v", err)
		return nil
	}
	i := slices.IndexFunc(s.servers, func(server measure.Server) bool { return server.Name == "null" })
	if i < 0 {
		return fmt.Errorf(`the hop needs a Task named null (--task "null=--task null")`)
	}
	dir, err := os.MkdirTemp("", "ranking-bench-hop-")
	if err != nil {
		return fmt.Errorf("make a directory for nginx: %w", err)
	}
	defer os.RemoveAll(dir)
	pair, err := hop.Start(ctx, dir)
	if err != nil {
		return err
	}
	defer pair.Stop()
	proxy := s.servers[i]
	proxy.Name = "proxy + null Task"
	servers := []measure.Server{proxy, pair.Nginx, pair.Direct}
	results, err := s.matrix.measure(ctx, servers, []string{"W3:1", "W1:1", "W3:16", "W3:64"}, max(s.rounds, 2), s.settings)
	if err != nil {
		return err
	}
	return s.section(report.Section{Heading: "The hop", Text: hopText, Table: report.Compare(results, proxy.Name)})
}

const hopText = "HTTP through proxy and socket to the null Task, against nginx over a Unix socket to a trivial server, and that server alone. Medians of rounds in turn."

// mixed replays W6 and, with the same arrivals, its short requests alone.
func (s *stackRun) mixed(ctx context.Context) error {
	both, err := workloads.Load("W6")
	if err != nil {
		return err
	}
	short, err := both.Only("short")
	if err != nil {
		return err
	}
	replay := measure.Load{Arrivals: "replay", Speed: s.speed, Concurrency: 1024}
	table := &report.Table{Header: []string{"server", "speed", "short p50 alone", "short p99 alone", "short p50 in W6", "short p99 in W6", "p99 ratio", "long p50 in W6", "rejected", "errors"}}
	for _, server := range s.servers {
		alone, err := measure.One(ctx, server, short, replay, s.settings)
		if err != nil {
			return err
		}
		mixed, err := measure.One(ctx, server, both, replay, s.settings)
		if err != nil {
			return err
		}
		s.results = append(s.results, alone, mixed)
		in, long := mixed.Classes["short"], mixed.Classes["long"]
		table.Add(server.Name, s.speed, alone.Latency.P50, alone.Latency.P99, in.P50, in.P99, in.P99/alone.Latency.P99, long.P50, mixed.Counts[load.Rejected], mixed.Errors())
	}
	lines, err := headOfLine(ctx, s.servers, s.settings)
	if err != nil {
		return err
	}
	if err := s.section(report.Section{Heading: "Short requests among long ones (W6, open loop), ms", Table: table}); err != nil {
		return err
	}
	return s.section(report.Section{Heading: "A W3 request behind two W2, ms", Table: lines})
}

func headOfLine(ctx context.Context, servers []measure.Server, s measure.Settings) (*report.Table, error) {
	t := &report.Table{Header: []string{"server", "alone", "behind two W2", "ratio"}}
	for _, server := range servers {
		h, err := measure.MeasureHeadOfLine(ctx, server, s.Timeout)
		if err != nil {
			return nil, err
		}
		t.Add(server.Name, ms(h.Alone), ms(h.Behind), float64(h.Behind)/float64(h.Alone))
	}
	return t, nil
}

// growth sweeps each dimension for every Task; a dimension is one plot.
func (s *stackRun) growth(ctx context.Context) error {
	return s.curves(ctx, s.servers, growth.Sweeps)
}

func (m *matrix) curves(ctx context.Context, servers []measure.Server, sweeps []growth.Sweep) error {
	table := &report.Table{Header: []string{"server", "of", "from", "to", "first p50 ms", "last p50 ms", "exponent", "exponent of the upper half"}}
	for _, sweep := range sweeps {
		plot := &report.Plot{LogX: true, LogY: true}
		for _, server := range servers {
			say("growth on %s", server.Name)
			c, err := sweep(ctx, server, m.settings)
			if err != nil {
				return err
			}
			plot.X, plot.Y, plot.Title = c.Of, c.What, "time against "+c.Of
			plot.Lines = append(plot.Lines, report.Line{Name: server.Name, Points: c.Points})
			c.AddTo(table)
			m.results = append(m.results, c.Results...)
		}
		if err := m.section(report.Section{Heading: plot.Title, Plot: plot}); err != nil {
			return err
		}
	}
	return m.section(report.Section{Heading: "Growth", Text: "time ~ x^exponent, fitted by least squares in log-log scale", Table: table})
}

func digests() string {
	text := ""
	for _, name := range workloads.Names {
		if w, err := workloads.Load(name); err == nil {
			text += fmt.Sprintf("%s %s; ", name, w.Digest)
		}
	}
	return text
}
