// Command ranking-qualify carries an inventory entry as far as the evidence goes: identity, the family's gates on the served bundle, the Task natively
// against HTTP, the published AIPerf with every request accounted for, and a result that CI verifies.
//
//	ranking-qualify --entry minilm-l6-rerank [--short | --validate] [--fresh]
//	ranking-qualify --entry nemotron-rerank-vl-1b-v2 --runtime-root DIR --bundle FILE
//
// It is run from the root of the repository. Exit status 1: a gate failed, and the list says which.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/pflag"

	"trtmc-ranking-proxy/conformance/inventory"
	"trtmc-ranking-proxy/conformance/qualify"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := execute(ctx, os.Args[1:])
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "ranking-qualify: interrupted; the same command goes on where this one stopped")
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, "ranking-qualify:", err)
		os.Exit(1)
	}
}

func execute(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if o.Entry.Backend == "trtmc" && o.Bundle == "" {
		if err := useDouble(ctx, o); err != nil {
			return err
		}
	}
	dir, err := qualify.Run(ctx, *o)
	if err != nil {
		return err
	}
	fmt.Println(filepath.Join(dir, "report.html"))
	return nil
}

func parse(args []string) (*qualify.Options, error) {
	o := &qualify.Options{Progress: os.Stderr}
	f := pflag.NewFlagSet("ranking-qualify", pflag.ContinueOnError)
	f.SortFlags = false
	entry := f.String("entry", "", "`name` of the inventory entry")
	f.BoolVar(&o.Short, "short", false, "fewer and shorter loads: shows that everything works, changes no status")
	f.BoolVar(&o.Validate, "validate", false, "leave out AIPerf: family-validated at most")
	f.BoolVar(&o.Fresh, "fresh", false, "start clean instead of going on where an interrupted run stopped")
	f.StringVar(&o.RuntimeRoot, "runtime-root", "", "`folder` with libtrtmc_c.so.1, for a TRTMC entry")
	f.StringVar(&o.Bundle, "bundle", "", "bundle `file` of a TRTMC entry; without one the test double is served, which qualifies nothing")
	f.StringVar(&o.AIPerf, "aiperf", "build/qualify/aiperf-venv/bin/aiperf", "AIPerf `program`; conformance/qualify/aiperf/setup.sh installs it")
	f.StringVar(&o.Inventory, "inventory", "conformance/inventory.yaml", "`file`")
	f.StringVar(&o.Build, "build", "build/qualify", "`folder` for what an interrupted run keeps, exports and logs")
	f.StringVar(&o.Results, "results", "bench/results", "`folder` of results")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	entries, err := inventory.Load(o.Inventory)
	if err != nil {
		return nil, err
	}
	var found bool
	if o.Entry, o.Section, found = entries.Find(*entry); !found {
		return nil, fmt.Errorf("the inventory has no entry %q", *entry)
	}
	return o, nil
}

// Where the build puts the double of the TRTMC runtime.
const double = "build/native/tests/trtmc_double"

func useDouble(ctx context.Context, o *qualify.Options) error {
	fmt.Fprintf(os.Stderr, "No --bundle: serving the test double in place of %s. This qualifies nothing.\n", o.Entry.Checkpoint)
	o.Double, o.RuntimeRoot, o.Bundle = true, filepath.Join(double, "runtime"), filepath.Join(o.Build, "double.bundle")
	if err := os.MkdirAll(o.Build, 0o755); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, filepath.Join(double, "make-bundle"), o.Bundle).CombinedOutput(); err != nil {
		return fmt.Errorf("make a bundle for the double: %w\n%s", err, out)
	}
	return nil
}
