// Command ranking-conformance tests a ranking server over HTTP, or a Task over its socket, and fails on every unexpected result.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"trtmc-ranking-proxy/conformance/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := execute(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "ranking-conformance:", err)
		os.Exit(1)
	}
}

func execute(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	results, err := o.test(ctx)
	if err != nil {
		return err
	}
	if err := o.write(results); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted: %w", ctx.Err())
	}
	return results.Err()
}

func (o *options) test(ctx context.Context) (*report.Run, error) {
	if o.ipc != "" {
		return o.testTask(ctx)
	}
	return o.testServer(ctx)
}

func (o *options) write(results *report.Run) error {
	if err := results.Table(os.Stdout); err != nil {
		return err
	}
	for path, form := range map[string]func(io.Writer) error{o.json: results.JSON, o.junit: results.JUnit} {
		if path == "" {
			continue
		}
		if err := writeFile(path, form); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path string, form func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("cannot write results: %w", err)
	}
	if err := form(file); err != nil {
		file.Close()
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return file.Close()
}
