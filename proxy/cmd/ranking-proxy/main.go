// Command ranking-proxy serves the NIM ranking API in front of a ranking Task on a Unix socket.
package main

import (
	"errors"
	"fmt"
	"os"

	"trtmc-ranking-proxy/proxy/config"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "version" {
		printVersion(os.Stdout)
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "probe" {
		os.Exit(probe(os.Args[2:], os.Stdout))
	}
	if len(os.Args) > 1 && os.Args[1] == "records" {
		os.Exit(recordsCommand(os.Args[2:], os.Stdout, os.Stderr))
	}
	c, err := config.Parse(os.Args[1:], os.LookupEnv, os.Stdout)
	if errors.Is(err, config.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "ranking-proxy: bad settings:\n%v\nSee --help.\n", err)
		os.Exit(2)
	}
	if err := run(c); err != nil {
		fmt.Fprintf(os.Stderr, "ranking-proxy: %v\n", err)
		os.Exit(1)
	}
}
