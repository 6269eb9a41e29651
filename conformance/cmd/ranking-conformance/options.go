package main

import (
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"trtmc-ranking-proxy/conformance/suite"
	"trtmc-ranking-proxy/conformance/wire"
)

type options struct {
	url, ipc     string
	dialect      string
	path         string
	profile      string
	model        string
	apiKeyFile   string
	without      string
	only         string
	knownFailing string
	startCommand string
	drift        float64
	timeout      time.Duration
	json, junit  string
}

func parse(args []string) (*options, error) {
	o := new(options)
	flags := flag.NewFlagSet("ranking-conformance", flag.ContinueOnError)
	flags.StringVar(&o.url, "url", "", "base `URL` of the ranking server, such as http://127.0.0.1:8000")
	flags.StringVar(&o.ipc, "ipc", "", "instead of --url: `socket` of a Task, tested by ipc/PROTOCOL.md alone; @name is an abstract socket")
	flags.StringVar(&o.dialect, "dialect", "nim", "wire format: "+strings.Join(wire.Names, ", "))
	flags.StringVar(&o.path, "path", "", "path of the ranking call, where it is not the dialect's own")
	flags.StringVar(&o.profile, "profile", string(suite.ProfileStrict), "what the server promises: any, strict-nim (its dialect as documented) or ours (this project's extensions)")
	flags.StringVar(&o.model, "model", "", "model `name`; default: the first of GET /v1/models")
	flags.StringVar(&o.apiKeyFile, "api-key-file", "", "`file` with the API key; default: RANKING_API_KEY from the environment, else none")
	flags.StringVar(&o.without, "without", "", "comma-separated `features` the server lacks by its nature: token-limit, usage, relevance")
	flags.StringVar(&o.only, "only", "", "run one `theme` or case, for work on a server")
	flags.StringVar(&o.knownFailing, "known-failing", "", "`file` of case names that are known to fail; they still run, and one that passes fails the run")
	flags.StringVar(&o.startCommand, "start-command", "", "shell `command` that starts the server at --url in the foreground; the drain cases need it")
	flags.Float64Var(&o.drift, "drift", 0.05, "largest difference allowed between scores of one pair in different company, on the logit scale")
	flags.DurationVar(&o.timeout, "timeout", time.Minute, "bound of one call")
	flags.StringVar(&o.json, "json", "", "write results as JSON to `file`")
	flags.StringVar(&o.junit, "junit", "", "write results as JUnit XML to `file`")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	return o, o.check(flags.Args())
}

func (o *options) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q", rest[0])
	case (o.url == "") == (o.ipc == ""):
		return errors.New("give either --url or --ipc")
	case wire.Dialects[o.dialect] == nil:
		return fmt.Errorf("unknown dialect %q", o.dialect)
	case !slices.Contains([]suite.Profile{suite.ProfileAny, suite.ProfileStrict, suite.ProfileOurs}, suite.Profile(o.profile)):
		return fmt.Errorf("unknown profile %q", o.profile)
	}
	for _, feature := range o.features() {
		if suite.Features[feature] == "" {
			return fmt.Errorf("unknown feature %q", feature)
		}
	}
	return nil
}

func (o *options) features() []string {
	if o.without == "" {
		return nil
	}
	return strings.Split(o.without, ",")
}

func (o *options) base() (*url.URL, error) {
	base, err := url.Parse(strings.TrimRight(o.url, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("--url %q is no http or https URL", o.url)
	}
	return base, nil
}

// apiKey keeps the key out of the process list, which shows arguments to every user of the machine.
func (o *options) apiKey() (string, error) {
	if o.apiKeyFile == "" {
		return os.Getenv("RANKING_API_KEY"), nil
	}
	key, err := os.ReadFile(o.apiKeyFile)
	if err != nil {
		return "", fmt.Errorf("cannot read the API key: %w", err)
	}
	return strings.TrimSpace(string(key)), nil
}
