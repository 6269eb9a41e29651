package taskcheck

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"trtmc-ranking-proxy/conformance/report"
)

// Check runs every vector and every rule against the Task at socket ("@name" is an abstract socket). After each it makes sure that the
// Task still greets a new connection. known are the names known to fail; done is told of each result.
func Check(ctx context.Context, socket string, vectors fs.FS, known map[string]bool, done func(string)) (*report.Run, error) {
	cases, err := allCases(vectors)
	if err != nil {
		return nil, err
	}
	run := &report.Run{Target: socket, Started: time.Now().UTC().Format(time.RFC3339)}
	for _, c := range cases {
		if ctx.Err() != nil {
			return run, nil
		}
		result := c.run(socket)
		if result.Status == report.Failed && gone(socket) {
			run.Results = append(run.Results, result)
			return run, fmt.Errorf("the Task is gone since %s: %s", c.name, result.Problems[0])
		}
		result.Known = known[c.name]
		done(fmt.Sprintf("%s/%s: %s", c.theme, c.name, result.Status))
		run.Results = append(run.Results, result)
	}
	return run, nil
}

// Names lists the cases, for the known-failing file.
func Names(vectors fs.FS) (names []string, err error) {
	cases, err := allCases(vectors)
	for _, c := range cases {
		names = append(names, c.name)
	}
	return names, err
}

// check is one case: try returns what is wrong.
type check struct {
	theme, name, why string
	try              func(socket string) error
}

// notApplicable is the reason why a rule says nothing about this Task.
type notApplicable string

func (n notApplicable) Error() string { return string(n) }

func allCases(files fs.FS) ([]check, error) {
	vectors, err := loadVectors(files)
	if err != nil {
		return nil, err
	}
	cases := append([]check(nil), rules...)
	for _, v := range vectors {
		cases = append(cases, check{"ipc-vectors", v.ID, v.Comment, v.try})
	}
	return cases, nil
}

func (c *check) run(socket string) report.Result {
	start := time.Now()
	result := report.Result{Theme: c.theme, Case: c.name, Why: c.why, Status: report.Passed}
	err := c.try(socket)
	if err == nil {
		err = alive(socket)
	}
	if err != nil {
		result.Status, result.Problems = report.Failed, []string{err.Error()}
	}
	if errors.As(err, new(notApplicable)) {
		result.Status = report.NotRun
	}
	result.Duration = time.Since(start)
	return result
}

// gone tells a Task that takes no connections any more: there is nothing left to test.
func gone(socket string) bool {
	s, err := dial(socket)
	if err != nil {
		return true
	}
	s.close()
	return false
}

func alive(socket string) error {
	s, _, err := greeted(socket)
	if err != nil {
		return fmt.Errorf("afterwards: %w", err)
	}
	s.close()
	return nil
}
