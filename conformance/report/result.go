// Package report holds the results of a run and writes them as a table, as JUnit XML and as JSON.
package report

import (
	"fmt"
	"time"
)

// Status is the outcome of one case.
type Status string

const (
	Passed Status = "pass"
	Failed Status = "fail"
	NotRun Status = "not-run" // never counted as a pass; Problems says why
)

// Result is the outcome of one case, with what a reader needs to judge it.
type Result struct {
	Theme    string        `json:"theme"`
	Case     string        `json:"case"`
	Why      string        `json:"why"`
	Source   string        `json:"report,omitempty"` // the public report that the case comes from
	Status   Status        `json:"status"`
	Known    bool          `json:"known_failing,omitempty"`
	Problems []string      `json:"problems,omitempty"` // findings, or the reason for not running
	Measured string        `json:"measured,omitempty"` // such as the largest drift seen
	Duration time.Duration `json:"duration_ns"`
}

// Unexpected tells a result that fails the run: a failure not known before, or a known one that passes now.
func (r *Result) Unexpected() bool {
	return r.Status == Failed && !r.Known || r.Status == Passed && r.Known
}

// Run is everything about one run of the suite.
type Run struct {
	Target  string   `json:"target"`
	Dialect string   `json:"dialect,omitempty"`
	Profile string   `json:"profile,omitempty"`
	Started string   `json:"started"` // RFC 3339
	Results []Result `json:"results"`
}

// Counts are the totals of a run.
type Counts struct {
	Passed, Failed, KnownFailing, KnownPassing, NotRun int
}

// Count adds up the results. Failed are the unknown failures only.
func (r *Run) Count() (c Counts) {
	for _, result := range r.Results {
		switch {
		case result.Status == NotRun:
			c.NotRun++
		case result.Status == Passed && result.Known:
			c.KnownPassing++
		case result.Status == Passed:
			c.Passed++
		case result.Known:
			c.KnownFailing++
		default:
			c.Failed++
		}
	}
	return c
}

// Err says why the run as a whole fails, or nothing.
func (r *Run) Err() error {
	c := r.Count()
	switch {
	case len(r.Results) == c.NotRun:
		return fmt.Errorf("no case was run (%d not run)", c.NotRun)
	case c.Failed > 0 || c.KnownPassing > 0:
		return fmt.Errorf("%d cases failed, %d known-failing cases passed", c.Failed, c.KnownPassing)
	}
	return nil
}
