// Package identity says exactly what is qualified, with what, and on what: the served bundle, the versions of every program, the machine, and the
// settings.
package identity

import (
	"fmt"

	"trtmc-ranking-proxy/ipc"
)

// Identity is the first step of a qualification.
type Identity struct {
	Checkpoint  string              `json:"checkpoint"`
	Revision    string              `json:"revision"`
	Profile     string              `json:"profile"`
	Family      string              `json:"family"`
	Served      Served              `json:"served"` // what the Task says of itself
	Files       []File              `json:"files"`  // of the bundle
	Versions    map[string][]string `json:"versions"`
	Check       []string            `json:"task_check"` // ranking-task --check
	ServingInfo map[string]any      `json:"serving_info"`
	Machine     Machine             `json:"machine"`
	Settings    map[string]string   `json:"settings"`
	Commands    []string            `json:"commands"`
}

// Served is the Task's welcome.
type Served struct {
	Server       string `json:"server"`
	Task         string `json:"task"`
	Model        string `json:"model"`
	Revision     string `json:"revision"`
	Family       string `json:"family"`
	Backend      string `json:"backend"`
	Precision    string `json:"precision"`
	BundleDigest string `json:"bundle_digest"`
	ScoreKind    string `json:"score_kind"`
	MaxTokens    uint32 `json:"max_tokens"`
	MaxPassages  uint32 `json:"max_passages"`
	Pointwise    bool   `json:"pointwise"`
}

// NewServed reads a welcome.
func NewServed(w *ipc.Welcome) Served {
	return Served{
		Server: w.Server, Task: w.Task + " " + w.TaskVersion, Model: w.Model, Revision: w.Revision, Family: w.Family, Backend: w.Backend,
		Precision: w.Precision, BundleDigest: w.BundleDigest, ScoreKind: string(w.ScoreKind), MaxTokens: w.MaxTokens,
		MaxPassages: w.MaxPassages, Pointwise: w.Pointwise,
	}
}

// Promised is what an inventory entry says about what will be served. Empty members promise nothing.
type Promised struct {
	NativeTask        string
	Revision          string
	Family            string
	Backend           string
	Precision         string
	MaxSequenceLength int
}

// Differences lists where what is served is not what was promised, and where the proxy says something else than the Task.
func (i *Identity) Differences(p *Promised) []string {
	var differences []string
	check := func(what, promised, served string) {
		if promised != "" && promised != served {
			differences = append(differences, fmt.Sprintf("%s is %q, the inventory says %q", what, served, promised))
		}
	}
	check("native Task", p.NativeTask, i.Served.Task)
	check("revision", p.Revision, i.Served.Revision)
	check("family", p.Family, i.Served.Family)
	check("backend", p.Backend, i.Served.Backend)
	check("precision", p.Precision, i.Served.Precision)
	if length := int(i.Served.MaxTokens); length != 0 && p.MaxSequenceLength != 0 && length != p.MaxSequenceLength {
		differences = append(differences, fmt.Sprintf("the limit of a pair is %d tokens, the inventory says %d", length, p.MaxSequenceLength))
	}
	if task, _ := i.ServingInfo["task"].(map[string]any); task["bundle_digest"] != i.Served.BundleDigest {
		differences = append(differences, fmt.Sprintf("/v1/serving/info names the bundle %v, the Task %s", task["bundle_digest"], i.Served.BundleDigest))
	}
	return differences
}
