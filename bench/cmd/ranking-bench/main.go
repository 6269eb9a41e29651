// Command ranking-bench measures ranking servers: any server in any of the four wire formats, this project's own programs stage by stage, and
// its peers on the same weights.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"
)

// commands in the order of the usage text.
var commands = []struct {
	name, summary string
	run           func(ctx context.Context, args []string) error
}{
	{"run", "measure one server under one load", runCommand},
	{"search", "find the highest rate at which one server keeps a latency objective", searchCommand},
	{"stack", "measure this project's programs: stages of a request, the hop, growth", stackCommand},
	{"peers", "measure this project and its peers in turn, on the same weights and work", peersCommand},
	{"null", "serve made-up answers as fast as can be", nullCommand},
	{"workloads", "print the digests of the built-in workloads, or write them anew", workloadsCommand},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	run := chosen()
	if run == nil {
		usage()
		os.Exit(2)
	}
	err := run(ctx, os.Args[2:])
	if err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "ranking-bench:", err)
		stop()
		os.Exit(1)
	}
}

func chosen() func(context.Context, []string) error {
	for _, c := range commands {
		if len(os.Args) > 1 && c.name == os.Args[1] {
			return c.run
		}
	}
	return nil
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: ranking-bench COMMAND [--help]")
	for _, c := range commands {
		fmt.Fprintf(os.Stderr, "  %-10s %s\n", c.name, c.summary)
	}
}
