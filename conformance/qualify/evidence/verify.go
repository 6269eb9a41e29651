package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"slices"

	"trtmc-ranking-proxy/conformance/qualify/accounting"
	"trtmc-ranking-proxy/conformance/qualify/gate"
	"trtmc-ranking-proxy/conformance/qualify/identity"
)

// Verify reads the result at name and checks that it proves what it says: its files are the ones it rests on, every gate holds when it is
// computed again, the gates are those of the criteria and of the accounts it carries, and the accounts and figures are those of the requests.
func Verify(root fs.FS, name string) (*Result, error) {
	data, err := fs.ReadFile(root, name)
	if err != nil {
		return nil, err
	}
	r, err := Parse(data)
	if err != nil {
		return nil, err
	}
	dir, err := fs.Sub(root, path.Dir(name))
	if err != nil {
		return nil, err
	}
	return r, errors.Join(r.verifyFiles(dir), r.verifyGates(), r.verifyLoads(), r.verifyRequests(dir))
}

func (r *Result) verifyFiles(dir fs.FS) error {
	var problems []error
	for _, stated := range r.Files {
		if got, err := identity.HashFile(dir, stated.Path); err != nil {
			problems = append(problems, err)
		} else if got != stated {
			problems = append(problems, fmt.Errorf("%s is not the file this result rests on", stated.Path))
		}
	}
	return errors.Join(problems...)
}

// verifyGates computes every gate from what was measured, so that none can be left out, loosened or called passed.
func (r *Result) verifyGates() error {
	var problems []error
	for _, g := range r.Gates {
		if !g.Passed || !g.Holds() {
			problems = append(problems, fmt.Errorf("a gate did not pass: %s", &g))
		}
	}
	for _, want := range r.owedGates() {
		if !slices.ContainsFunc(r.Gates, func(g gate.Gate) bool { return reflect.DeepEqual(g, want) }) {
			problems = append(problems, fmt.Errorf("a gate is missing, or another than what was measured makes it: %s", &want))
		}
	}
	return errors.Join(problems...)
}

func (r *Result) owedGates() []gate.Gate {
	gates := r.Parity.Gates()
	if r.Agreement != nil {
		gates = append(gates, r.Criteria.Gates(r.Agreement)...)
	}
	for i := range r.Accounts {
		gates = append(gates, r.Accounts[i].Gates()...)
	}
	return gates
}

// ParityStep names the gates of native against HTTP.
const ParityStep = "native against HTTP"

// Gates judges the comparison of native and HTTP answers.
func (p *Parity) Gates() []gate.Gate {
	return []gate.Gate{
		gate.None(ParityStep, "answers that differ", len(p.Different)),
		gate.AtLeast(ParityStep, "requests scored", 1, float64(p.Scored)),
		gate.AtLeast(ParityStep, "requests refused", 1, float64(p.Rejected)),
	}
}

// verifyLoads checks that a qualified bundle was driven both ways: with requests in flight, and at a rate.
func (r *Result) verifyLoads() error {
	if r.Status != "aiperf-qualified" {
		return nil
	}
	atRate := func(a accounting.Account) bool { return a.Load.Rate > 0 }
	inFlight := func(a accounting.Account) bool { return a.Load.Rate == 0 }
	if !slices.ContainsFunc(r.Accounts, atRate) || !slices.ContainsFunc(r.Accounts, inFlight) {
		return errors.New("qualified without a closed loop and a constant rate")
	}
	return nil
}

// verifyRequests counts the evidence again.
func (r *Result) verifyRequests(dir fs.FS) error {
	if len(r.Accounts) == 0 {
		return nil
	}
	for _, name := range []string{RequestsFile, AnswersFile} {
		if !slices.ContainsFunc(r.Files, func(f identity.File) bool { return f.Path == name }) {
			return fmt.Errorf("does not name %s", name)
		}
	}
	requests, answers, err := readEvidence(dir)
	if err != nil {
		return err
	}
	problems := []error{sameAnswers(requests, answers)}
	for i := range r.Accounts {
		problems = append(problems, r.verifyAccount(&r.Accounts[i], requests))
	}
	return errors.Join(problems...)
}

func readEvidence(dir fs.FS) ([]accounting.Request, *Answers, error) {
	packed, err := fs.ReadFile(dir, RequestsFile)
	if err != nil {
		return nil, nil, err
	}
	requests, err := accounting.ReadRequests(bytes.NewReader(packed))
	if err != nil {
		return nil, nil, err
	}
	data, err := fs.ReadFile(dir, AnswersFile)
	if err != nil {
		return nil, nil, err
	}
	answers := new(Answers)
	if err := json.Unmarshal(data, answers); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", AnswersFile, err)
	}
	return requests, answers, nil
}

// sameAnswers checks every request's scores against the Task's own, and that no id stands for two requests.
func sameAnswers(requests []accounting.Request, answers *Answers) error {
	seen := map[string]bool{}
	for _, request := range requests {
		if seen[request.ID] {
			return fmt.Errorf("the id %s stands for two requests", request.ID)
		}
		seen[request.ID] = true
		if request.Case < 0 || request.Case >= len(answers.Scores) || request.ScoresSHA != accounting.HashScores(answers.Scores[request.Case]) {
			return fmt.Errorf("request %s has other scores than the Task's own", request.ID)
		}
	}
	return nil
}

func (r *Result) verifyAccount(a *accounting.Account, requests []accounting.Request) error {
	name, warmup, profiled := a.Load.Name(), 0, 0
	for _, request := range requests {
		switch {
		case request.Load == name && request.Warmup:
			warmup++
		case request.Load == name:
			profiled++
		}
	}
	if warmup != a.Warmup || profiled != a.Profiled {
		return fmt.Errorf("%s: %d requests and %d of warm-up in evidence, %d and %d in the account", name, profiled, warmup, a.Profiled, a.Warmup)
	}
	if figures := accounting.NewFigures(name, requests); !slices.Contains(r.Figures, figures) {
		return fmt.Errorf("%s: the figures are not those of the requests", name)
	}
	return nil
}
