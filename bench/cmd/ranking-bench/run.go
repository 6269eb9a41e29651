package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"trtmc-ranking-proxy/bench/load"
	"trtmc-ranking-proxy/bench/measure"
	"trtmc-ranking-proxy/bench/ratesearch"
	"trtmc-ranking-proxy/bench/report"
)

func runCommand(ctx context.Context, args []string) error {
	flags := newFlags("run")
	var server serverFlags
	var work workFlags
	var setting settingFlags
	server.add(flags)
	work.add(flags)
	l := loadFlags(flags)
	setting.add(flags, 10*time.Second)
	jsonPath := flags.String("json", "", "write the result to this file as well")
	if err := flags.Parse(args); err != nil {
		return err
	}
	result, err := measureWith(ctx, server, work, *l, setting)
	if err != nil {
		return err
	}
	return printRun([]report.Result{result}, *jsonPath)
}

func loadFlags(flags *pflag.FlagSet) *measure.Load {
	var l measure.Load
	flags.IntVar(&l.Concurrency, "concurrency", 1, "closed loop: requests in flight; open loop: most connections")
	flags.StringVar(&l.Arrivals, "arrivals", "", "open loop with constant, poisson or replay arrivals; empty: closed loop")
	flags.Float64Var(&l.Rate, "rate", 0, "requests a second of constant and poisson arrivals")
	flags.Float64Var(&l.Speed, "speed", 1, "speed of a replay: 2 is twice as fast as recorded")
	return &l
}

func measureWith(ctx context.Context, sf serverFlags, wf workFlags, l measure.Load, st settingFlags) (report.Result, error) {
	server, err := sf.server()
	if err != nil {
		return report.Result{}, err
	}
	workload, err := wf.workload()
	if err != nil {
		return report.Result{}, err
	}
	settings, err := st.settings()
	if err != nil {
		return report.Result{}, err
	}
	return measure.One(ctx, server, workload, l, settings)
}

func printRun(results []report.Result, jsonPath string) error {
	if err := report.Results(results).WriteText(os.Stdout); err != nil {
		return err
	}
	if stages := report.Stages(results); len(stages.Rows) > 0 {
		fmt.Println()
		if err := stages.WriteText(os.Stdout); err != nil {
			return err
		}
	}
	if classes := report.Classes(results); len(classes.Rows) > 0 {
		fmt.Println()
		if err := classes.WriteText(os.Stdout); err != nil {
			return err
		}
	}
	for i := range results {
		r := &results[i]
		fmt.Printf("\n%s on %s: workload %s, warm-up %gs and window %gs; the generator used %s cores, sent %s ms late at p99\n",
			r.Load(), r.Server, r.Digest, r.WarmUpS, r.WindowS, report.Number(r.Generator.Cores), report.Number(r.SendLag.P99))
		if r.FirstBad != "" {
			fmt.Printf("the first request without scores got: %s\n", r.FirstBad)
		}
	}
	return writeJSON(results, jsonPath)
}

func writeJSON(results []report.Result, path string) error {
	if path == "" {
		return nil
	}
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	defer f.Close()
	run := report.Run{Machine: report.ThisMachine(), Command: commandLine(), Results: results}
	if err := run.Write(f); err != nil {
		return err
	}
	return f.Close()
}

// commandLine is the command as typed, without the directory of the program.
func commandLine() string {
	line := "ranking-bench"
	for _, arg := range os.Args[1:] {
		if strings.ContainsAny(arg, " \t") {
			arg = "'" + arg + "'"
		}
		line += " " + arg
	}
	return line
}

func searchCommand(ctx context.Context, args []string) error {
	flags := newFlags("search")
	var server serverFlags
	var work workFlags
	var setting settingFlags
	server.add(flags)
	work.add(flags)
	setting.add(flags, 5*time.Second)
	first := flags.Float64("from", 10, "first rate tried, requests a second")
	tolerance := flags.Float64("tolerance", 0.05, "how near the bounds of the rate must come, as a share")
	share := flags.Float64("share", 0.99, "share of requests that must be answered within the objective")
	jsonPath := flags.String("json", "", "write the results of all rates tried to this file as well")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if setting.Objective <= 0 {
		return fmt.Errorf("a search needs --objective")
	}
	var tried []report.Result
	best, err := ratesearch.Search(ctx, *first, *tolerance, func(ctx context.Context, rate float64) (bool, error) {
		r, err := measureWith(ctx, server, work, measure.OpenPoisson(rate), setting)
		tried = append(tried, r)
		return err == nil && r.GoodputPerS >= *share*r.Rate && r.Counts[load.OK] > 0, err
	})
	if err != nil {
		return err
	}
	if err := printRun(tried, *jsonPath); err != nil {
		return err
	}
	fmt.Printf("\nhighest rate with %g %% within %v: %s requests/s (open loop, poisson)\n", *share*100, setting.Objective, report.Number(best))
	return nil
}
