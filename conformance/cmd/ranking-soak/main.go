// Command ranking-soak runs the built programs under random faults and load, checks every score, accounts for every request id, and fails
// if anything is wrong, missing or leaked.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"trtmc-ranking-proxy/conformance/soak"
)

func main() {
	var o soak.Options
	flag.DurationVar(&o.Duration, "duration", 30*time.Minute, "length of the run")
	flag.IntVar(&o.Clients, "clients", 8, "clients at a time")
	flag.Uint64Var(&o.Seed, "seed", uint64(time.Now().Unix()), "seed of questions and faults")
	flag.Float64Var(&o.Tolerance, "tolerance", 1e-3, "largest difference from a score that the model gave alone; the null Task's must be the same")
	model := flag.String("model", "", "model `directory` for the openvino Task; empty: the null Task")
	file := flag.String("json", "", "write the figures to `file` too")
	quiet := flag.Bool("quiet", false, "do not tell of each fault")
	flag.Parse()
	o.Log = func(format string, args ...any) {
		if !*quiet {
			fmt.Fprintf(os.Stderr, time.Now().Format(time.TimeOnly)+" "+format+"\n", args...)
		}
	}
	chooseTask(&o, *model)
	if err := run(o, *file); err != nil {
		fmt.Fprintf(os.Stderr, "ranking-soak: %v\n", err)
		os.Exit(1)
	}
}

func chooseTask(o *soak.Options, model string) {
	if model == "" {
		o.TaskArgs, o.Model, o.Source, o.Tolerance = []string{"--task", "null", "--null-delay-ms", "1"}, "null", soak.Computed, 0
		return
	}
	o.TaskArgs, o.Model, o.Source = []string{"--task", "openvino", "--model", model}, filepath.Base(model), soak.Prepared(64, o.Seed)
}

func run(o soak.Options, file string) error {
	dir, err := os.MkdirTemp("", "soak")
	if err != nil {
		return err
	}
	o.Dir = dir
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	result, err := soak.Run(ctx, o)
	if err != nil {
		return fmt.Errorf("%w\nlogs are in %s", err, dir)
	}
	result.Write(os.Stdout)
	if err := save(result, file); err != nil {
		return err
	}
	if problems := result.Problems(); len(problems) > 0 {
		return fmt.Errorf("failed:\n  %s\nlogs and records are in %s", strings.Join(problems, "\n  "), dir)
	}
	fmt.Println("\nnothing wrong, nothing missing, nothing leaked")
	return os.RemoveAll(dir)
}

func save(result *soak.Result, file string) error {
	if file == "" {
		return nil
	}
	text, err := json.MarshalIndent(result, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
