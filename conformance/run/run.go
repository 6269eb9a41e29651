// Package run sends the cases of a suite to a server and collects the results. It knows nothing of the server's inside.
package run

import (
	"context"
	"fmt"
	"slices"
	"time"

	"trtmc-ranking-proxy/conformance/assert"
	"trtmc-ranking-proxy/conformance/client"
	"trtmc-ranking-proxy/conformance/report"
	"trtmc-ranking-proxy/conformance/suite"
	"trtmc-ranking-proxy/conformance/wire"
)

// Config is one run.
type Config struct {
	Target  *client.Target
	Dialect *wire.Dialect
	Model   string
	Profile suite.Profile
	Without []string // features that the server lacks by its nature
	Drift   float64  // bound of same_as with drift, on the logit scale
	Known   map[string]bool
	Only    string       // theme or case; empty: all
	Server  *Server      // nil: the suite does not start the server
	Done    func(string) // told of each result as it comes
}

// Procedures lists what a case may name as its procedure.
func Procedures() []string {
	var names []string
	for name := range procedures {
		names = append(names, name)
	}
	return names
}

// Run runs every case of the dialect in order.
func (c *Config) Run(ctx context.Context, themes []suite.Theme) *report.Run {
	run := &report.Run{
		Target: c.Target.Base.String(), Dialect: c.Dialect.Name, Profile: string(c.Profile), Started: time.Now().UTC().Format(time.RFC3339),
	}
	for _, theme := range themes {
		for i := range theme.Cases {
			k := &theme.Cases[i]
			if !c.selects(k) {
				continue
			}
			result := c.oneCase(ctx, k)
			c.Done(fmt.Sprintf("%s/%s: %s (%.1f s)", k.Theme, k.Name, result.Status, result.Duration.Seconds()))
			run.Results = append(run.Results, result)
		}
	}
	return run
}

// selects leaves out the cases of other dialects: they say nothing about this run.
func (c *Config) selects(k *suite.Case) bool {
	if c.Only != "" && c.Only != k.Theme && c.Only != k.Name {
		return false
	}
	return len(k.Dialects) == 0 || slices.Contains(k.Dialects, c.Dialect.Name)
}

func (c *Config) oneCase(ctx context.Context, k *suite.Case) report.Result {
	result := report.Result{Theme: k.Theme, Case: k.Name, Why: k.Why, Source: k.Report, Known: c.Known[k.Name]}
	if reason := c.reasonAgainst(k); reason != "" {
		result.Status, result.Problems = report.NotRun, []string{reason}
		return result
	}
	start := time.Now()
	if k.Procedure != "" {
		result.Problems = procedures[k.Procedure](ctx, c)
	} else {
		result.Problems, result.Measured = c.steps(ctx, k)
	}
	result.Duration = time.Since(start)
	result.Status = report.Passed
	if len(result.Problems) > 0 {
		result.Status = report.Failed
	}
	return result
}

// reasonAgainst says why a case does not apply to this run.
func (c *Config) reasonAgainst(k *suite.Case) string {
	if !c.Profile.Covers(k.Applies) {
		return fmt.Sprintf("applies to profile %s", k.Applies)
	}
	for _, feature := range k.Needs {
		if !c.has(feature) {
			return fmt.Sprintf("needs %s: %s", feature, suite.Features[feature])
		}
	}
	return ""
}

func (c *Config) has(feature string) bool {
	switch feature {
	case "api-key":
		return c.Target.APIKey != ""
	case "open":
		return c.Target.APIKey == ""
	case "start":
		return c.Server != nil
	}
	return !slices.Contains(c.Without, feature)
}

// steps runs the steps until one fails, since later ones build upon it.
func (c *Config) steps(ctx context.Context, k *suite.Case) (problems []string, measured string) {
	checker := &assert.Checker{Dialect: c.Dialect, Drift: c.Drift, Earlier: map[string][]*assert.Exchange{}}
	for i := range k.Steps {
		if problems = c.step(ctx, &k.Steps[i], checker); len(problems) > 0 {
			problems = prefixed(fmt.Sprintf("step %d: ", i+1), problems)
			break
		}
	}
	if checker.Drifted {
		measured = fmt.Sprintf("largest drift %.3g", checker.Largest)
	}
	return problems, measured
}

// prefixed keeps the first few findings; a broken server would print one for each of hundreds of calls.
func prefixed(prefix string, problems []string) []string {
	const most = 4
	var kept []string
	for _, problem := range problems[:min(most, len(problems))] {
		kept = append(kept, prefix+problem)
	}
	if len(problems) > most {
		kept = append(kept, fmt.Sprintf("%sand %d more", prefix, len(problems)-most))
	}
	return kept
}
