// Package dataset is the pinned text of a qualification, in the project's own wording (CC0-1.0): 64 queries over eight subjects with 16 graded
// passages each, from a short sentence to 372 words.
//
// It is composed, always in the same way, from the authored questions and passages of native/tests/goldens/quality/own.json (compose.go); Digest
// pins the outcome, so that two results with the same digest asked exactly the same.
package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Source is where the authored texts stand, from the root of the repository.
const Source = "native/tests/goldens/quality/own.json"

// Digest is of the composed dataset (Dataset.Digest). A change of the texts or of their composition is a new dataset and needs a new digest here.
const Digest = "sha256:5164db620c61f85d3799fe4f427b39ad11d692cbf995820302bab52a65e543a2"

// Grades of a passage.
const (
	Other   = 0 // another subject
	Related = 1 // the query's subject
	Answers = 2 // answers the query
)

// Case is one query with its passages and their grades, in the order in which they are sent.
type Case struct {
	Query    string   `json:"query"`
	Passages []string `json:"passages"`
	Grades   []int    `json:"grades"`
}

// Dataset is the cases in their fixed order.
type Dataset struct {
	Cases []Case
}

// Load composes the dataset from the texts below root and refuses one that is not the pinned one.
func Load(root fs.FS) (*Dataset, error) {
	data, err := fs.ReadFile(root, Source)
	if err != nil {
		return nil, fmt.Errorf("read the texts of the dataset: %w", err)
	}
	var texts texts
	if err := json.Unmarshal(data, &texts); err != nil {
		return nil, fmt.Errorf("parse %s: %w", Source, err)
	}
	d, err := compose(&texts)
	if err != nil {
		return nil, fmt.Errorf("compose the dataset: %w", err)
	}
	if got := d.Digest(); got != Digest {
		return nil, fmt.Errorf("the dataset composed from %s is %s, pinned is %s", Source, got, Digest)
	}
	return d, nil
}

// Digest is the SHA-256 of the cases as JSON, one a line.
func (d *Dataset) Digest() string {
	hash := sha256.New()
	encoder := json.NewEncoder(hash)
	for i := range d.Cases {
		_ = encoder.Encode(&d.Cases[i]) // strings and ints into a hash: cannot fail
	}
	return "sha256:" + hex.EncodeToString(hash.Sum(nil))
}

// Lengths describes the texts for a report.
type Lengths struct {
	Queries          int    `json:"queries"`
	PassagesPerQuery int    `json:"passages_per_query"`
	QueryWords       Spread `json:"query_words"`
	PassageWords     Spread `json:"passage_words"`
}

// Spread is least, median and most of a count.
type Spread struct {
	Least  int `json:"least"`
	Median int `json:"median"`
	Most   int `json:"most"`
}

// Lengths counts words, parted by white space.
func (d *Dataset) Lengths() Lengths {
	var queries, passages []int
	for _, c := range d.Cases {
		queries = append(queries, len(strings.Fields(c.Query)))
		for _, p := range c.Passages {
			passages = append(passages, len(strings.Fields(p)))
		}
	}
	return Lengths{
		Queries: len(d.Cases), PassagesPerQuery: len(passages) / max(1, len(queries)),
		QueryWords: spread(queries), PassageWords: spread(passages),
	}
}

func spread(counts []int) Spread {
	slices.Sort(counts)
	if len(counts) == 0 {
		return Spread{}
	}
	return Spread{counts[0], counts[len(counts)/2], counts[len(counts)-1]}
}
