// Package evidence is the lasting outcome of a qualification, bench/results/<entry>/<date>/: its result, in a published schema, the files the
// result rests on, and the check that they still prove what it says.
package evidence

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"trtmc-ranking-proxy/conformance/qualify/accounting"
	"trtmc-ranking-proxy/conformance/qualify/agreement"
	"trtmc-ranking-proxy/conformance/qualify/dataset"
	"trtmc-ranking-proxy/conformance/qualify/gate"
	"trtmc-ranking-proxy/conformance/qualify/identity"
)

// Version of the schema.
const Version = "ranking-qualification/1"

// Files of a result's directory, beside the page and its plots.
const (
	ResultFile   = "result.json"
	RequestsFile = "requests.jsonl.gz" // every request of every AIPerf run, warm-up marked (accounting.Request)
	AnswersFile  = "answers.json"      // the Task's own scores of every case of the dataset (Answers)
)

// Result is result.json.
type Result struct {
	Schema       string               `json:"schema"`
	Entry        string               `json:"entry"`
	Section      string               `json:"section"`
	Status       string               `json:"status"`  // that the entry may carry by this result
	Fixture      bool                 `json:"fixture"` // a double was served: the procedure is shown, and nothing about the checkpoint
	Date         string               `json:"date"`
	BundleDigest string               `json:"bundle_digest"`
	Identity     *identity.Identity   `json:"identity"`
	Dataset      Dataset              `json:"dataset"`
	Reference    *Reference           `json:"reference"` // null: there is none
	Criteria     agreement.Criteria   `json:"criteria"`  // of the family, as the inventory had them
	Agreement    *agreement.Measured  `json:"agreement"` // null without a reference
	Parity       Parity               `json:"parity"`
	Accounts     []accounting.Account `json:"accounts"`
	Figures      []accounting.Figures `json:"figures"`
	Gates        []gate.Gate          `json:"gates"`
	Gaps         []string             `json:"gaps"`
	Files        []identity.File      `json:"files"` // that this result rests on, relative to its directory
	Reproduce    string               `json:"reproduce"`
}

// Dataset names the pinned texts.
type Dataset struct {
	Digest  string `json:"digest"`
	License string `json:"license"`
	dataset.Lengths
}

// Reference names the recorded scores.
type Reference struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`
}

// Parity is native against HTTP.
type Parity struct {
	Scored    int                  `json:"scored"`   // requests that were scored, equal or not
	Rejected  int                  `json:"rejected"` // requests that were refused, equal or not
	Different []accounting.Finding `json:"different"`
}

// Answers are the Task's own scores, by case of the dataset, in passage order.
type Answers struct {
	Scores [][]float32 `json:"scores"`
}

//go:embed result.schema.json
var schemaSource []byte

// Schema is the published JSON schema of result.json.
func Schema() []byte { return schemaSource }

var schema = compiled()

func compiled() *jsonschema.Schema {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaSource))
	if err != nil {
		panic(err) // a constant of this package, which the tests read
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("result.schema.json", document); err != nil {
		panic(err)
	}
	return compiler.MustCompile("result.schema.json")
}

// Parse reads a result.json and holds it against the schema.
func Parse(data []byte) (*Result, error) {
	// Not jsonschema.UnmarshalJSON: it keeps a number as its text, and its exact arithmetic takes minutes over 1e999999 and panics over 1e9999999.
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return nil, fmt.Errorf("no JSON: %w", err)
	}
	if err := schema.Validate(value); err != nil {
		return nil, fmt.Errorf("against the schema: %w", err)
	}
	var r Result
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, err
	}
	return &r, nil
}
