package main

import (
	"fmt"
	"os"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/pflag"

	"trtmc-ranking-proxy/bench/load"
	"trtmc-ranking-proxy/bench/measure"
	"trtmc-ranking-proxy/bench/workloads"
)

// serverFlags choose the server.
type serverFlags struct {
	url, name, format, path, model string
	pids                           []int
}

func (f *serverFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.url, "url", "http://127.0.0.1:8000", "address of the server: http://HOST:PORT or unix:PATH")
	flags.StringVar(&f.name, "name", "server", "its name in the results")
	flags.StringVar(&f.format, "format", "nim", "wire format: nim, tei, cohere or jina")
	flags.StringVar(&f.path, "path", "", "path of the ranking call, if not the format's own")
	flags.StringVar(&f.model, "model", "minilm-l6-rerank", "model named in the requests")
	flags.IntSliceVar(&f.pids, "pid", nil, "processes of the server, to report their memory")
}

func (f *serverFlags) server() (measure.Server, error) {
	e, err := load.NewEndpoint(f.url, f.format, f.path, f.model)
	return measure.Server{Name: f.name, Endpoint: e, PIDs: f.pids}, err
}

// workFlags choose the workload.
type workFlags struct{ name, class string }

func (f *workFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.name, "workload", "W3", "a built-in workload (W1 to W6) or a .jsonl or .jsonl.gz file")
	flags.StringVar(&f.class, "class", "", "only the requests of this class (W6 has short and long)")
}

func (f *workFlags) workload() (*workloads.Workload, error) {
	w, err := workloads.Load(f.name)
	if err != nil {
		return nil, err
	}
	return w.Only(f.class)
}

// settingFlags are the times of a measurement.
type settingFlags struct {
	measure.Settings
	progress string
}

func (f *settingFlags) add(flags *pflag.FlagSet, window time.Duration) {
	flags.DurationVar(&f.WarmUp, "warm-up", 2*time.Second, "load before the measured window, not counted")
	flags.DurationVar(&f.Window, "window", window, "measured time")
	flags.DurationVar(&f.Timeout, "timeout", 2*time.Minute, "time-out of one request")
	flags.DurationVar(&f.Objective, "objective", 0, "latency objective for goodput; 0: none")
	flags.BoolVar(&f.Stages, "stages", false, "report the stages in the Server-Timing header")
	flags.StringVar(&f.progress, "progress", "auto", "progress line on standard error: auto (on a terminal), always, never")
}

func (f *settingFlags) settings() (measure.Settings, error) {
	s := f.Settings
	switch f.progress {
	case "always":
		s.Progress = printProgress
	case "auto":
		if isatty.IsTerminal(os.Stderr.Fd()) {
			s.Progress = printProgress
		}
	case "never":
	default:
		return s, fmt.Errorf("--progress %q: want auto, always or never", f.progress)
	}
	return s, nil
}

func printProgress(p load.Progress) {
	state := fmt.Sprintf("%3.0f of %.0f s", p.Elapsed.Seconds(), p.Window.Seconds())
	if p.Elapsed < 0 {
		state = "warm-up"
	}
	fmt.Fprintf(os.Stderr, "\r%-12s %7d ok %5d rejected %5d errors  p50 %v p99 %v\x1b[K", state, p.OK, p.Rejected, p.Bad, p.P50.Round(time.Microsecond), p.P99.Round(time.Microsecond))
	if p.Elapsed > p.Window-time.Second {
		fmt.Fprint(os.Stderr, "\r\x1b[K")
	}
}

// newFlags makes the flag set of a command.
func newFlags(name string) *pflag.FlagSet {
	flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Usage = func() {
		fmt.Fprintf(os.Stderr, "usage: ranking-bench %s [flags]\n%s", name, flags.FlagUsages())
	}
	return flags
}
