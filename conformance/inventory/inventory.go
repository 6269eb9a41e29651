// Package inventory reads conformance/inventory.yaml: the checkpoints this project answers for, the status of each, and the evidence.
package inventory

import (
	"bytes"
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"

	"trtmc-ranking-proxy/conformance/qualify/agreement"
)

// Status is how far a checkpoint has come. Each one takes the evidence that Verify asks for.
type Status string

const (
	Planned         Status = "planned"
	Implemented     Status = "implemented"
	FamilyValidated Status = "family-validated"
	AIPerfQualified Status = "aiperf-qualified"
)

// Inventory is the whole file.
type Inventory struct {
	Refreshed    string     `yaml:"refreshed"` // date of the last look at the baselines
	Baselines    []Baseline `yaml:"baselines"`
	RankingGroup []Entry    `yaml:"ranking_group"`
	Variants     []Entry    `yaml:"variants"`
	AuditedOut   []Audited  `yaml:"audited_out"`
	StandIns     []Entry    `yaml:"stand_ins"`
}

// Baseline is what an inventory was read from: a commit or a published version.
type Baseline struct {
	What    string `yaml:"what"`
	Commit  string `yaml:"commit"`
	Version string `yaml:"version"`
	Read    string `yaml:"read"` // date
}

// Entry is a checkpoint, a variant of one (Of names it), or a stand-in.
type Entry struct {
	Name               string             `yaml:"entry"`
	Of                 string             `yaml:"of"`
	Checkpoint         string             `yaml:"checkpoint"`
	Revision           string             `yaml:"revision"`
	Profile            string             `yaml:"profile"`
	Family             string             `yaml:"family"`
	Backend            string             `yaml:"backend"`
	NativeTask         string             `yaml:"native_task"`
	Precision          string             `yaml:"precision"`
	TensorParallelSize int                `yaml:"tensor_parallel_size"`
	MaxSequenceLength  int                `yaml:"max_sequence_length"`
	InputTemplate      string             `yaml:"input_template"`
	Pooling            string             `yaml:"pooling"`
	Controls           string             `yaml:"controls"`
	Gates              agreement.Criteria `yaml:"gates"`     // of the owning family, as it states them
	Reference          string             `yaml:"reference"` // recorded scores of the reference implementation; empty: there are none, which is a gap
	Status             Status             `yaml:"status"`
	BundleDigest       string             `yaml:"bundle_digest"` // of what was validated: "sha256:<hex>"
	Result             string             `yaml:"result"`        // path of the result.json behind the last two statuses
	Evidence           []Evidence         `yaml:"evidence"`
	Gaps               []string           `yaml:"gaps"`
}

// Evidence is a claim and the files, relative to the root of the repository, that show it.
type Evidence struct {
	Claim string   `yaml:"claim"`
	Files []string `yaml:"files"`
}

// Audited names what was looked at and left out.
type Audited struct {
	Names    []string `yaml:"names"`
	Family   string   `yaml:"family"`
	Declares string   `yaml:"declares"` // the task of its bundles
	Reason   string   `yaml:"reason"`
}

// Load reads an inventory file. Unknown keys are errors.
func Load(path string) (*Inventory, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the inventory: %w", err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	inventory := new(Inventory)
	if err := decoder.Decode(inventory); err != nil {
		return nil, fmt.Errorf("cannot parse %s: %w", path, err)
	}
	return inventory, nil
}

// Section is a part of the inventory under its own name.
type Section struct {
	Name    string
	Entries []Entry
}

// Sections are the parts that have a status, in the order of the file.
func (i *Inventory) Sections() []Section {
	return []Section{{"ranking group", i.RankingGroup}, {"variant", i.Variants}, {"stand-in", i.StandIns}}
}

// Find returns the entry of that name and the section it stands in.
func (i *Inventory) Find(name string) (Entry, string, bool) {
	for _, section := range i.Sections() {
		for _, entry := range section.Entries {
			if entry.Name == name {
				return entry, section.Name, true
			}
		}
	}
	return Entry{}, "", false
}
