package qualify

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"trtmc-ranking-proxy/conformance/inventory"
	"trtmc-ranking-proxy/conformance/qualify/accounting"
	"trtmc-ranking-proxy/conformance/qualify/agreement"
	"trtmc-ranking-proxy/conformance/qualify/aiperf"
	"trtmc-ranking-proxy/conformance/qualify/dataset"
	"trtmc-ranking-proxy/conformance/qualify/evidence"
	"trtmc-ranking-proxy/conformance/qualify/gate"
	"trtmc-ranking-proxy/conformance/qualify/identity"
	"trtmc-ranking-proxy/conformance/stack"
)

// run is a qualification in progress. Each step adds to result.
type run struct {
	Options
	root      fs.FS
	began     time.Time
	taskArgs  []string
	texts     *dataset.Dataset
	reference *agreement.Reference // nil: there is none
	aiperf    *aiperf.Program
	state     *state

	programPaths []string        // of Task and proxy
	programs     []identity.File // as they were at the start

	cases    []accounting.Case
	requests []accounting.Request
	result   *evidence.Result
}

// Run qualifies an entry. It returns where the result is. A *GateError lists what failed.
func Run(ctx context.Context, o Options) (string, error) {
	r, err := prepare(o)
	if err != nil {
		return "", err
	}
	steps := []struct {
		name string
		run  func(context.Context) error
	}{
		{"identity, family correctness, native against HTTP", r.examine},
		{"AIPerf, and every request accounted for", r.drive},
		{"result", r.conclude},
	}
	for i, step := range steps {
		r.say("[%d/%d] %s", i+1, len(steps), step.name)
		if err := step.run(ctx); err != nil {
			return "", err
		}
	}
	return r.resultDir(), r.state.finish()
}

func prepare(o Options) (*run, error) {
	r := &run{Options: o, root: os.DirFS(stack.Root()), began: time.Now()}
	if o.Validate && o.Entry.Status == inventory.AIPerfQualified {
		return nil, fmt.Errorf("%s is %s: validation alone would lower it, run all of it", o.Entry.Name, o.Entry.Status)
	}
	var err error
	if r.taskArgs, err = o.taskArgs(); err != nil {
		return nil, err
	}
	if r.texts, err = dataset.Load(r.root); err != nil {
		return nil, err
	}
	r.result = &evidence.Result{
		Schema: evidence.Version, Entry: o.Entry.Name, Section: o.Section, Fixture: o.Double, Criteria: o.Entry.Gates,
		Date: r.began.UTC().Format(time.DateOnly), Reproduce: o.reproduce(), Gaps: []string{}, Accounts: []accounting.Account{}, Figures: []accounting.Figures{},
		Dataset: evidence.Dataset{Digest: r.texts.Digest(), License: "CC0-1.0", Lengths: r.texts.Lengths()},
	}
	if o.Entry.Reference == "" {
		r.gap("there are no reference scores, so the family's gates have not been run")
		return r, nil
	}
	if r.reference, err = agreement.ReadReference(r.root, o.Entry.Reference); err != nil {
		return nil, err
	}
	r.result.Reference = &evidence.Reference{Path: r.reference.Path, Digest: r.reference.Digest}
	return r, nil
}

func (r *run) say(format string, args ...any) { fmt.Fprintf(r.Progress, format+"\n", args...) }

func (r *run) gap(format string, args ...any) {
	r.result.Gaps = append(r.result.Gaps, fmt.Sprintf(format, args...))
}

// GateError ends a run whose gates did not all pass.
type GateError struct {
	Failed []gate.Gate
	Detail []accounting.Finding
}

func (e *GateError) Error() string {
	lines := []string{fmt.Sprintf("gates failed: %d", len(e.Failed))}
	for i := range e.Failed {
		lines = append(lines, "  "+e.Failed[i].String())
	}
	const most = 20
	for _, finding := range e.Detail[:min(most, len(e.Detail))] {
		lines = append(lines, "    "+finding.ID+": "+finding.Problem)
	}
	if more := len(e.Detail) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("    and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// judge is the end of a step: its gates stand in the result if they pass, and end the run if not.
func judge(gates []gate.Gate, detail ...[]accounting.Finding) error {
	failed := gate.Failed(gates)
	if len(failed) == 0 {
		return nil
	}
	e := &GateError{Failed: failed}
	for _, findings := range detail {
		e.Detail = append(e.Detail, findings...)
	}
	return e
}

// reached is the status that the result proves.
func (r *run) reached() inventory.Status {
	switch {
	case r.Double || r.Short || r.reference == nil:
		return inventory.Implemented
	case len(r.result.Accounts) == 0:
		return inventory.FamilyValidated
	}
	return inventory.AIPerfQualified
}

// resultDir is for full runs below bench/results, for short ones and validations of nothing below build.
func (r *run) resultDir() string {
	if r.Short {
		return filepath.Join(r.state.dir, "result")
	}
	return filepath.Join(r.Results, r.Entry.Name, r.result.Date)
}
