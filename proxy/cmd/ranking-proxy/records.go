package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"trtmc-ranking-proxy/proxy/records/summary"
)

const recordsUsage = `Adds up records files, as written with --records.

Usage:
  ranking-proxy records summary FILE... [flags]

%s`

// recordsCommand runs `ranking-proxy records ...` and returns the exit status.
func recordsCommand(args []string, out, errs io.Writer) int {
	flags := pflag.NewFlagSet("records", pflag.ContinueOnError)
	flags.SetOutput(out)
	asJSON := flags.Bool("json", false, "print JSON instead of tables")
	html := flags.String("html", "", "write a page with plots to this `file` as well")
	client := flags.String("client", "", "join the client's clock from this profile_export.jsonl of AIPerf, by request id; its warm-up is left out too")
	flags.Usage = func() { fmt.Fprintf(out, recordsUsage, flags.FlagUsages()) }
	err := flags.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		return 0
	}
	if err == nil && (flags.NArg() < 2 || flags.Arg(0) != "summary") {
		err = errors.New("want: ranking-proxy records summary FILE...")
	}
	if err != nil {
		fmt.Fprintf(errs, "ranking-proxy: %v\n", err)
		return 2
	}
	if err := summarize(flags.Args()[1:], *client, *html, *asJSON, out); err != nil {
		fmt.Fprintf(errs, "ranking-proxy: records summary: %v\n", err)
		return 1
	}
	return 0
}

func summarize(files []string, client, html string, asJSON bool, out io.Writer) error {
	clients, err := readClients(client)
	if err != nil {
		return err
	}
	s := summary.New(clients)
	for _, path := range files {
		if err := readRecords(s, path); err != nil {
			return err
		}
	}
	if html != "" {
		if err := writePage(s, html); err != nil {
			return err
		}
	}
	if asJSON {
		return s.WriteJSON(out)
	}
	return s.WriteText(out)
}

func readClients(path string) (summary.Clients, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return summary.ReadAIPerf(f)
}

func readRecords(s *summary.Summary, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return s.Read(f)
}

func writePage(s *summary.Summary, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := s.WriteHTML(f); err != nil {
		return err
	}
	return f.Close()
}
