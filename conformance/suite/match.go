package suite

import (
	"fmt"
	"regexp"

	"go.yaml.in/yaml/v3"
)

// Status is one or more status codes or classes such as 4xx.
type Status []string

// UnmarshalYAML reads a scalar or a list.
func (s *Status) UnmarshalYAML(node *yaml.Node) error {
	var list []string
	if node.Kind == yaml.ScalarNode {
		list = []string{node.Value}
	} else if err := node.Decode(&list); err != nil {
		return err
	}
	for _, item := range list {
		if !statusForm.MatchString(item) {
			return fmt.Errorf("line %d: %q is no status (400, 4xx or a list)", node.Line, item)
		}
	}
	*s = list
	return nil
}

var statusForm = regexp.MustCompile(`^[1-5]([0-9][0-9]|xx)$`)

// Accepts tells whether code is among them.
func (s Status) Accepts(code int) bool {
	text := fmt.Sprint(code)
	for _, item := range s {
		if item == text || item[1:] == "xx" && item[0] == text[0] {
			return true
		}
	}
	return false
}

// Matcher is what one value must be. A scalar in YAML means equals.
type Matcher struct {
	Equals      any      `yaml:"equals"`
	Type        string   `yaml:"type"` // string, number, integer, boolean, array, object
	Contains    []string `yaml:"contains"`
	NotContains []string `yaml:"not_contains"`
	Matches     string   `yaml:"matches"`
	Absent      bool     `yaml:"absent"`
	NonEmpty    bool     `yaml:"non_empty"`
	Min         *float64 `yaml:"min"`
	Max         *float64 `yaml:"max"`
}

type plainMatcher Matcher // without the method, so that decoding does not recurse

// UnmarshalYAML reads a scalar as equals and a mapping as the fields of Matcher.
func (m *Matcher) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		return node.Decode(&m.Equals)
	}
	if err := decodeStrictly(node, (*plainMatcher)(m)); err != nil {
		return err
	}
	if _, err := regexp.Compile(m.Matches); err != nil {
		return fmt.Errorf("line %d: %w", node.Line, err)
	}
	return nil
}
