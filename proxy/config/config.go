// Package config reads the proxy's settings from flags and environment, and checks them before anything starts.
//
// Every flag --some-name has the variable RANKING_PROXY_SOME_NAME; a flag on the command line wins.
package config

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag" // flags with two dashes, as the users of such servers expect, and lists

	"trtmc-ranking-proxy/proxy/dialect"
	"trtmc-ranking-proxy/proxy/records"
)

// Config is every setting of the proxy.
type Config struct {
	Listen      string
	AdminListen string
	TLSCert     string
	TLSKey      string
	APIKeyFile  string
	CORSOrigins []string
	Page        bool
	TaskSockets []string
	Supervise   bool
	TaskCommand []string // of --supervise

	SplitPassages int

	ServedModelNames []string
	DefaultModel     string
	NIMTopN          bool
	Timing           bool

	MaxPassages     int
	MaxPassageBytes int
	MaxBodyBytes    int
	MaxBodiesBytes  int
	MaxHeaderBytes  int
	MaxConnections  int
	MaxInFlight     int

	RequestTimeout time.Duration
	ReadTimeout    time.Duration
	WriteTimeout   time.Duration
	IdleTimeout    time.Duration

	PingInterval time.Duration
	PingTimeout  time.Duration
	MuteTimeout  time.Duration
	StallTimeout time.Duration

	DrainDelay   time.Duration
	DrainTimeout time.Duration

	LogLevel     string
	LogSample    int
	DebugRequest string

	Records         string
	RecordsFull     string
	RecordsTexts    bool
	RecordsMaxBytes int64
	RecordsKeep     int

	RecordsQueueBytes int

	OTLPEndpoint string
}

// ErrHelp says that --help was asked for and has been printed.
var ErrHelp = pflag.ErrHelp

const envPrefix = "RANKING_PROXY_"

// Parse reads args (without the program's name) and the environment. The error, if any, names every mistake, one a line.
// Help goes to help.
func Parse(args []string, lookupEnv func(string) (string, bool), help io.Writer) (*Config, error) {
	c := &Config{}
	flags := c.flags()
	flags.SetOutput(help)
	flags.Usage = func() { usage(flags, help) }
	mistakes := collectMistakes(flags)
	if err := flags.Parse(args); err != nil {
		return nil, errors.Join(append(*mistakes, err)...)
	}
	applyEnvironment(flags, lookupEnv)
	*mistakes = append(*mistakes, c.takeCommand(flags)...)
	if err := errors.Join(append(*mistakes, c.mistakes()...)...); err != nil {
		return nil, err
	}
	return c, nil
}

// takeCommand takes the arguments behind --, which are the supervised Task's; others there are none.
func (c *Config) takeCommand(flags *pflag.FlagSet) (mistakes []error) {
	rest, dash := flags.Args(), flags.ArgsLenAtDash()
	if c.Supervise && dash >= 0 {
		rest, c.TaskCommand = rest[:dash], rest[dash:]
	}
	if c.Supervise && len(c.TaskCommand) == 0 {
		mistakes = append(mistakes, errors.New("--supervise: give the Task's command behind --"))
	}
	if len(rest) > 0 {
		mistakes = append(mistakes, fmt.Errorf("unexpected argument %q", rest[0]))
	}
	return mistakes
}

func (c *Config) flags() *pflag.FlagSet {
	f := pflag.NewFlagSet("ranking-proxy", pflag.ContinueOnError)
	f.SortFlags = false
	f.StringVar(&c.Listen, "listen", ":8000", "TCP `address` to serve HTTP on")
	f.StringVar(&c.AdminListen, "admin-listen", "", "TCP `address` for health and metrics, in plain HTTP; they are then no longer on --listen; empty: they stay there")
	f.StringVar(&c.TLSCert, "tls-cert", "", "PEM `file` with the certificate and its chain; SIGHUP reads it anew; empty: plain HTTP")
	f.StringVar(&c.TLSKey, "tls-key", "", "PEM `file` with the key of --tls-cert")
	f.StringVar(&c.APIKeyFile, "api-key-file", "", "`file` of API keys, one a line, of which ranking requests must send one as Bearer; SIGHUP reads it anew; empty: Authorization is ignored")
	f.StringSliceVar(&c.CORSOrigins, "cors-origin", nil, "`origins` whose pages may call this server, like https://app.example, or *; empty: none")
	f.BoolVar(&c.Page, "page", true, "serve a page at / to try rankings by hand")
	f.StringSliceVar(&c.TaskSockets, "task-socket", []string{"/run/ranking/task.sock"}, "Unix socket `path` of the Task, @name for an abstract one; several, or a pattern with * ? or [: the least loaded is asked")
	f.IntVar(&c.SplitPassages, "split-passages", 16, "split a request across Tasks that serve the same, in parts of at least so many passages of its mean size; 0: never")
	f.BoolVar(&c.Supervise, "supervise", false, "start the Task, whose command stands behind --, and start it again when it ends (default false)")

	f.StringSliceVar(&c.ServedModelNames, "served-model-name", nil, "further `names` of the served model; in all names _ and . are equal")
	f.StringVar(&c.DefaultModel, "default-model", string(dialect.DefaultModelNull), "`when` the served model answers a NIM request that names none: null (only if it says \"model\": null), always, never")
	f.BoolVar(&c.NIMTopN, "nim-top-n", false, "take top_n and top_k on /v1/ranking too, where NIM refuses unknown fields (default false)")
	f.BoolVar(&c.Timing, "timing", true, "add trtmc_timing and Server-Timing to answers")

	f.IntVar(&c.MaxPassages, "max-passages", 512, "passages in one request; the Task's own cap applies too")
	f.IntVar(&c.MaxPassageBytes, "max-passage-bytes", 0, "size of a passage, and of the query; beyond it 413, whatever the truncation; 0: what a body may hold (default 0)")
	f.IntVar(&c.MaxBodyBytes, "max-body-bytes", 16<<20, "size of a request body")
	f.IntVar(&c.MaxBodiesBytes, "max-bodies-bytes", 64<<20, "size of all bodies in progress, the first 64 KiB of each apart; beyond it 429; one alone may be larger")
	f.IntVar(&c.MaxHeaderBytes, "max-header-bytes", 8<<10, "size of a request's head; also the read buffer of each connection")
	f.IntVar(&c.MaxConnections, "max-connections", 4096, "open connections; beyond it 503 and close")
	f.IntVar(&c.MaxInFlight, "max-in-flight", 1024, "ranking requests in progress; beyond it 429")

	f.DurationVar(&c.RequestTimeout, "request-timeout", 120*time.Second, "time for one ranking; a client may ask for less with X-Request-Timeout-Ms")
	f.DurationVar(&c.ReadTimeout, "read-timeout", 30*time.Second, "time for a client to send a whole request")
	f.DurationVar(&c.WriteTimeout, "write-timeout", 30*time.Second, "time for a client to take an answer")
	f.DurationVar(&c.IdleTimeout, "idle-timeout", 90*time.Second, "time an idle connection is kept")

	f.DurationVar(&c.PingInterval, "ping-interval", 250*time.Millisecond, "pause between pings to the Task")
	f.DurationVar(&c.PingTimeout, "ping-timeout", 500*time.Millisecond, "an unanswered ping of this age makes the proxy not ready")
	f.DurationVar(&c.MuteTimeout, "mute-timeout", 2*time.Second, "a Task that answers no ping for this long gets no new requests")
	f.DurationVar(&c.StallTimeout, "stall-timeout", 30*time.Second, "a single Task call of this age makes the proxy not ready; no pong for this long fails what is in flight")

	f.DurationVar(&c.DrainDelay, "drain-delay", time.Second, "on SIGTERM, time between turning not ready and refusing connections")
	f.DurationVar(&c.DrainTimeout, "drain-timeout", 30*time.Second, "on SIGTERM, time for accepted requests to finish")

	f.StringVar(&c.LogLevel, "log-level", "info", "`level`: debug (every request, with its stages), info, warn or error")
	f.IntVar(&c.LogSample, "log-sample", 100, "log one in so many successful requests; 0: none")
	f.StringVar(&c.DebugRequest, "debug-request", "", "log the request with this `id` with its stages, whatever the level")

	f.StringVar(&c.Records, "records", "", "append one JSON line for each ranking request to this `file`; SIGHUP opens it anew; empty: no records")
	f.StringVar(&c.RecordsFull, "records-full", string(records.Block), "`what` to do when the disk cannot keep up: block (clients wait for their next answer) or drop (and count)")
	f.IntVar(&c.RecordsQueueBytes, "records-queue-bytes", records.DefaultQueue, "memory that records waiting for the disk may hold; then --records-full decides")
	f.BoolVar(&c.RecordsTexts, "records-texts", false, "keep queries and passages in the records, not only their SHA-256 (default false)")
	f.Int64Var(&c.RecordsMaxBytes, "records-max-bytes", 0, "size at which the file becomes FILE.1, FILE.1 becomes FILE.2 and so on; 0: never (default 0)")
	f.IntVar(&c.RecordsKeep, "records-keep", 5, "rotated files to keep; older ones are deleted")

	f.StringVar(&c.OTLPEndpoint, "otlp-endpoint", "", "export a trace of each ranking request to this OTLP/HTTP `URL`, such as http://collector:4318/v1/traces; empty: none")
	return f
}

// applyEnvironment sets what the command line did not.
func applyEnvironment(flags *pflag.FlagSet, lookupEnv func(string) (string, bool)) {
	flags.VisitAll(func(f *pflag.Flag) {
		if value, found := lookupEnv(envName(f.Name)); found && !f.Changed {
			f.Value.Set(value)
		}
	})
}

func envName(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// collector keeps the error of a flag's value instead of ending the parse, so that one run shows every mistake.
type collector struct {
	pflag.Value
	name     string
	fallback string
	mistakes *[]error
}

func (c collector) Set(value string) error {
	if err := c.Value.Set(value); err != nil {
		c.Value.Set(c.fallback) // so that the checks do not complain a second time
		*c.mistakes = append(*c.mistakes, fmt.Errorf("--%s (or %s): %q: %w", c.name, envName(c.name), value, err))
	}
	return nil
}

func collectMistakes(flags *pflag.FlagSet) *[]error {
	mistakes := new([]error)
	flags.VisitAll(func(f *pflag.Flag) {
		f.Value = collector{Value: f.Value, name: f.Name, fallback: f.DefValue, mistakes: mistakes}
	})
	return mistakes
}

func usage(flags *pflag.FlagSet, w io.Writer) {
	fmt.Fprintf(w, `ranking-proxy serves the NIM ranking API in front of a ranking Task on a Unix socket.

Usage:
  ranking-proxy [flags]
  ranking-proxy [flags] --supervise -- ranking-task ...
  ranking-proxy records summary FILE... [--json] [--html FILE] [--client FILE]
  ranking-proxy version

Each flag can be given as %sNAME in the environment, for example %s; a flag wins.

%s`, envPrefix, envName("task-socket"), flags.FlagUsagesWrapped(120))
}
