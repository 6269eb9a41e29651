package suite

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Text is a literal, or a rule that makes one (or Count of them).
type Text struct {
	Literal string
	Rule    *Rule
}

// Rule makes text. The same rule at the same place always makes the same text.
type Rule struct {
	Words int    `yaml:"words"` // so many words of a fixed vocabulary
	Text  string `yaml:"text"`  // or this text
	Times int    `yaml:"times"` // repeated so often; 0 is 1
	Hex   string `yaml:"hex"`   // or these bytes
	Count int    `yaml:"count"` // in a list of passages: so many texts, each different
	Seed  uint64 `yaml:"seed"`
	Vary  bool   `yaml:"vary"` // different in every call of the step
}

// UnmarshalYAML reads a scalar as a literal and a mapping as a rule.
func (t *Text) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		return node.Decode(&t.Literal)
	}
	t.Rule = new(Rule)
	if err := decodeStrictly(node, t.Rule); err != nil {
		return err
	}
	return t.Rule.check(node.Line)
}

func (r *Rule) check(line int) error {
	sources := 0
	for _, given := range []bool{r.Words > 0, r.Text != "", r.Hex != ""} {
		if given {
			sources++
		}
	}
	if sources != 1 {
		return fmt.Errorf("line %d: a text rule needs exactly one of words, text and hex", line)
	}
	if _, err := hex.DecodeString(r.Hex); err != nil {
		return fmt.Errorf("line %d: %w", line, err)
	}
	return nil
}

// Expand renders the texts of one call; place distinguishes the texts of a request from one another.
func (t Text) Expand(place, call int) []string {
	if t.Rule == nil {
		return []string{t.Literal}
	}
	texts := make([]string, max(t.Rule.Count, 1))
	for i := range texts {
		texts[i] = t.Rule.render(uint64(place+i), uint64(call))
	}
	return texts
}

// String renders a single text.
func (t Text) String(call int) string { return t.Expand(0, call)[0] }

func (r *Rule) render(place, call uint64) string {
	switch {
	case r.Hex != "":
		raw, _ := hex.DecodeString(r.Hex) // checked when loaded
		return strings.Repeat(string(raw), max(r.Times, 1))
	case r.Text != "":
		return strings.Repeat(r.Text, max(r.Times, 1))
	}
	if !r.Vary {
		call = 0
	}
	random := rand.New(rand.NewPCG(r.Seed+1, place<<32|call))
	words := make([]string, r.Words)
	for i := range words {
		words[i] = vocabulary[random.IntN(len(vocabulary))]
	}
	return strings.Join(words, " ")
}

var vocabulary = strings.Fields(`river bridge copper garden winter engine letter silver window forest music paper
	mountain doctor kitchen market island summer orange planet yellow harbour teacher village morning weather station
	picture journey machine history country science library captain current measure balance pattern section surface
	quick quiet early narrow gentle steady modern useful simple bright heavy hollow common distant careful
	carries follows answers reaches collects protects explains replaces connects improves between against
	behind through without because during towards beneath`)
