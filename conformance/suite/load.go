package suite

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Load reads every *.yaml of files and checks what can be checked without a server. Unknown keys, unknown names, a case without a
// reason and a name used twice are errors, and so is finding no case at all.
func Load(files fs.FS, dialects, procedures []string) ([]Theme, error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("cannot list cases: %w", err)
	}
	c := checker{dialects: dialects, procedures: procedures, seen: map[string]bool{}}
	var themes []Theme
	for _, name := range names {
		theme, err := loadTheme(files, name)
		if err == nil {
			err = c.theme(theme)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		themes = append(themes, *theme)
	}
	if len(c.seen) == 0 {
		return nil, errors.New("no cases found")
	}
	return themes, nil
}

func loadTheme(files fs.FS, name string) (*Theme, error) {
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	theme := new(Theme)
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(theme); err != nil {
		return nil, err
	}
	for i := range theme.Cases {
		c := &theme.Cases[i]
		c.Theme = theme.Name
		if c.Applies == "" {
			c.Applies = ProfileAny
		}
	}
	return theme, nil
}

// decodeStrictly decodes a node with unknown fields refused, which Node.Decode does not do.
func decodeStrictly(node *yaml.Node, into any) error {
	data, err := yaml.Marshal(node)
	if err != nil {
		return err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("from line %d: %w", node.Line, err)
	}
	return nil
}

type checker struct {
	dialects, procedures []string
	seen                 map[string]bool
}

var nameForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func (c *checker) theme(t *Theme) error {
	if !nameForm.MatchString(t.Name) {
		return fmt.Errorf("theme %q is not in kebab case", t.Name)
	}
	for i := range t.Cases {
		if err := c.oneCase(&t.Cases[i]); err != nil {
			return fmt.Errorf("case %q: %w", t.Cases[i].Name, err)
		}
	}
	return nil
}

func (c *checker) oneCase(k *Case) error {
	switch {
	case !nameForm.MatchString(k.Name):
		return errors.New("the name is not in kebab case")
	case c.seen[k.Name]:
		return errors.New("the name is used twice")
	case k.Why == "":
		return errors.New("why is missing")
	case (len(k.Steps) == 0) == (k.Procedure == ""):
		return errors.New("needs either steps or a procedure")
	case k.Procedure != "" && !slices.Contains(c.procedures, k.Procedure):
		return fmt.Errorf("unknown procedure %q", k.Procedure)
	}
	if _, ok := profileOrder[k.Applies]; !ok {
		return fmt.Errorf("unknown profile %q", k.Applies)
	}
	for _, dialect := range k.Dialects {
		if !slices.Contains(c.dialects, dialect) {
			return fmt.Errorf("unknown dialect %q", dialect)
		}
	}
	for _, feature := range k.Needs {
		if Features[feature] == "" {
			return fmt.Errorf("unknown feature %q", feature)
		}
	}
	c.seen[k.Name] = true
	return checkSteps(k.Steps)
}

func checkSteps(steps []Step) error {
	earlier := map[string]bool{}
	for i := range steps {
		if err := checkStep(&steps[i], earlier); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
		earlier[steps[i].Name] = true
	}
	return nil
}

func checkStep(s *Step, earlier map[string]bool) error {
	kinds := 0
	for _, given := range []bool{s.Rank != nil, s.Request != nil, s.Raw != nil} {
		if given {
			kinds++
		}
	}
	if kinds != 1 {
		return errors.New("needs exactly one of rank, request and raw")
	}
	for _, e := range []*Expect{&s.Expect, s.Ours} {
		if err := checkExpect(e, s, earlier); err != nil {
			return err
		}
	}
	return nil
}

func checkExpect(e *Expect, s *Step, earlier map[string]bool) error {
	switch {
	case e == nil:
		return nil
	case e.SameAs != nil && !earlier[e.SameAs.Step]:
		return fmt.Errorf("same_as names no earlier step: %q", e.SameAs.Step)
	case (e.Ranking != nil || e.SameAs != nil) && s.Rank == nil:
		return errors.New("ranking and same_as need a rank step")
	case (e.Answers != nil || e.Closed != nil || e.NotInvited || e.MayBeSilent) && s.Raw == nil:
		return errors.New("answers, closed, not_invited and may_be_silent need a raw step")
	case e == &s.Expect && e.Status == nil && e.Answers == nil && e.Closed == nil:
		return errors.New("expect says no status")
	}
	return nil
}
