package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"
	"github.com/valyala/fasthttp"
)

// probeTimeout is longer than any healthy answer takes and shorter than what health checks wait.
const probeTimeout = 3 * time.Second

// probe asks a running proxy whether it is ready: the health check of containers that hold no other HTTP client. It returns the
// exit code: 0 ready, 1 not ready or not reached, 2 wrong use.
func probe(args []string, out io.Writer) int {
	flags := pflag.NewFlagSet("ranking-proxy probe", pflag.ContinueOnError)
	flags.SetOutput(out)
	url := flags.String("url", "http://127.0.0.1:8000/v1/health/ready", "page that answers 200 when the proxy is ready")
	if err := flags.Parse(args); err == pflag.ErrHelp {
		return 0
	} else if err != nil || flags.NArg() > 0 {
		fmt.Fprintln(out, "usage: ranking-proxy probe [--url URL]")
		return 2
	}
	status, body, err := fasthttp.GetTimeout(nil, *url, probeTimeout)
	if err != nil {
		fmt.Fprintf(out, "%s: %v\n", *url, err)
		return 1
	}
	fmt.Fprintf(out, "%d %s\n", status, body)
	if status != fasthttp.StatusOK {
		return 1
	}
	return 0
}
