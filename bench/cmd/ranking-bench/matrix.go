package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"trtmc-ranking-proxy/bench/interleave"
	"trtmc-ranking-proxy/bench/measure"
	"trtmc-ranking-proxy/bench/ours"
	"trtmc-ranking-proxy/bench/report"
)

// matrix is what `stack` and `peers` share: variants of ours, cells, rounds, a directory for the report.
type matrix struct {
	setting  settingFlags
	variants []string
	cells    []string
	rounds   int
	out      string
	parts    []string

	settings measure.Settings
	page     report.Page
	results  []report.Result
}

func (m *matrix) add(flags *pflag.FlagSet, variants, parts []string, rounds int) {
	flags.StringArrayVar(&m.variants, "task", variants, "a Task of ours to measure, as NAME=ARGUMENTS of ranking-task; repeatable")
	flags.StringSliceVar(&m.cells, "cells", []string{"W1:1", "W1:16", "W2:1", "W2:4", "W3:1", "W3:16"}, "closed loops to measure, as WORKLOAD:CONCURRENCY")
	flags.IntVar(&m.rounds, "rounds", rounds, "rounds of each cell; in a round every server is measured once")
	flags.StringVar(&m.out, "out", "build/bench", "directory for the report and the logs of the servers")
	flags.StringSliceVar(&m.parts, "parts", parts, "parts of the benchmark to run")
	m.setting.add(flags, 10*time.Second)
}

// begin checks the flags and starts the page.
func (m *matrix) begin(title string) (err error) {
	if m.settings, err = m.setting.settings(); err != nil {
		return err
	}
	if m.out, err = filepath.Abs(m.out); err != nil {
		return fmt.Errorf("directory of the report: %w", err)
	}
	machine := report.ThisMachine()
	m.page = report.Page{Title: title, Lines: []string{
		"date: " + time.Now().UTC().Format("2006-01-02 15:04 MST"),
		fmt.Sprintf("machine: %s, %d cores", machine.CPU, machine.Cores),
		"command: `" + commandLine() + "`",
		fmt.Sprintf("each measurement: %v warm-up, %v window; latencies in ms", m.settings.WarmUp, m.settings.Window),
	}}
	return nil
}

// start starts every variant; stop ends those that run, also after an error.
func (m *matrix) start(ctx context.Context) (running []*ours.Running, stop func(), err error) {
	stop = func() {
		for _, r := range running {
			r.Stop()
		}
	}
	for _, text := range m.variants {
		v, err := ours.ParseVariant(text)
		if err != nil {
			return nil, stop, err
		}
		say("starting %s: ranking-task %v", v.Name, v.TaskArgs)
		r, err := v.Start(ctx, filepath.Join(m.out, "logs"))
		if err != nil {
			return nil, stop, err
		}
		running = append(running, r)
	}
	return running, stop, nil
}

// part is a part of a benchmark that --parts can choose.
type part struct {
	name string
	run  func(context.Context) error
}

func (m *matrix) runParts(ctx context.Context, parts ...part) error {
	for _, p := range parts {
		if !slices.Contains(m.parts, p.name) {
			continue
		}
		if err := p.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// measure runs the cells over the servers.
func (m *matrix) measure(ctx context.Context, servers []measure.Server, cells []string, rounds int, s measure.Settings) ([]report.Result, error) {
	var parsed []interleave.Cell
	for _, text := range cells {
		cell, err := interleave.ParseCell(text)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, cell)
	}
	results, err := interleave.Run(ctx, servers, parsed, rounds, s, sayResult)
	m.results = append(m.results, results...)
	return results, err
}

// section adds to the page and prints the table.
func (m *matrix) section(s report.Section) error {
	m.page.Sections = append(m.page.Sections, s)
	if s.Table == nil {
		return nil
	}
	fmt.Printf("\n%s\n", s.Heading)
	return s.Table.WriteText(os.Stdout)
}

// end writes name.md, name.html, the plots and name.json.
func (m *matrix) end(name string) error {
	if err := m.page.Write(m.out, name); err != nil {
		return err
	}
	say("report: %s", filepath.Join(m.out, name+".html"))
	return writeJSON(m.results, filepath.Join(m.out, name+".json"))
}

func say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

func sayResult(r report.Result) {
	say("%-16s %-4s %-28s %8s passages/s  p50 %s ms  p99 %s ms", r.Server, r.Workload, r.Load(), report.Number(r.PassagesPerS), report.Number(r.Latency.P50), report.Number(r.Latency.P99))
}
