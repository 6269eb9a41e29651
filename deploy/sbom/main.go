// Command sbom writes what a shipped program is made of: a CycloneDX list of components, and their licence texts beside it.
//
//	sbom --name ranking-proxy --version 0.1.0 --out DIR --go ./proxy/cmd/ranking-proxy
//	sbom --name ranking-task --version 0.1.0 --out DIR --cargo native/tokenizer/Cargo.toml --debian libssl3 --wheel DIST-INFO-FOLDER
//
// The lists come from the tools that resolved the versions (go, cargo, dpkg), never from a list kept by hand. The same input gives the
// same bytes.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "sbom: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := pflag.NewFlagSet("sbom", pflag.ContinueOnError)
	name := flags.String("name", "", "name of the program")
	version := flags.String("version", "", "version of the program")
	out := flags.String("out", "", "folder for sbom.cdx.json and licences/")
	var lists [len(sources)]*[]string
	for i, source := range sources {
		lists[i] = flags.StringSlice(source.flag, nil, source.usage)
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *name == "" || *out == "" {
		return fmt.Errorf("--name and --out are needed")
	}
	var components []component
	for i, source := range sources {
		for _, argument := range *lists[i] {
			found, err := source.read(argument)
			if err != nil {
				return fmt.Errorf("--%s %s: %w", source.flag, argument, err)
			}
			components = append(components, found...)
		}
	}
	return write(*out, *name, *version, components)
}
