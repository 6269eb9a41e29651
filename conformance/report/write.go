package report

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// Table writes a line a case, the findings below each, and the counts last.
func (r *Run) Table(w io.Writer) error {
	var table strings.Builder
	themes, cases := r.widths()
	for _, result := range r.Results {
		line := fmt.Sprintf("%-*s  %-*s  %-8s %s", themes, result.Theme, cases, result.Case, word(&result), result.Measured)
		fmt.Fprintln(&table, strings.TrimRight(line, " "))
		for _, problem := range result.Problems {
			fmt.Fprintf(&table, "    %s\n", problem)
		}
		if result.Status == Failed {
			fmt.Fprintf(&table, "    It matters because: %s\n", reason(&result))
		}
	}
	c := r.Count()
	fmt.Fprintf(&table, "\n%d known failing, %d known failing that pass, %d not run\n", c.KnownFailing, c.KnownPassing, c.NotRun)
	fmt.Fprintf(&table, "%d passed, %d failed, %d skipped\n", c.Passed, c.Failed+c.KnownPassing, c.NotRun)
	_, err := io.WriteString(w, table.String())
	return err
}

func (r *Run) widths() (themes, cases int) {
	for _, result := range r.Results {
		themes, cases = max(themes, len(result.Theme)), max(cases, len(result.Case))
	}
	return themes, cases
}

func reason(r *Result) string {
	if r.Source == "" {
		return r.Why
	}
	return r.Why + " [" + r.Source + "]"
}

func word(r *Result) string {
	switch {
	case r.Known && r.Status == Passed:
		return "PASSES, THOUGH KNOWN FAILING"
	case r.Known && r.Status == Failed:
		return "known failing"
	case r.Status == Failed:
		return "FAIL"
	}
	return string(r.Status)
}

// JSON writes the run as one JSON object.
func (r *Run) JSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", " ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(r)
}

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string     `xml:"classname,attr"`
	Name    string     `xml:"name,attr"`
	Seconds float64    `xml:"time,attr"`
	Failure *junitText `xml:"failure"`
	Skipped *junitText `xml:"skipped"`
}

type junitText struct {
	Message string `xml:"message,attr"`
}

// JUnit writes the form that CI systems read. Known failures count as skipped there, which is as near as the format comes.
func (r *Run) JUnit(w io.Writer) error {
	c := r.Count()
	s := junitSuite{Name: "ranking-conformance " + r.Target, Tests: len(r.Results), Failures: c.Failed + c.KnownPassing, Skipped: c.NotRun + c.KnownFailing}
	for _, result := range r.Results {
		s.Cases = append(s.Cases, junit(&result))
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", " ")
	return encoder.Encode(s)
}

func junit(r *Result) junitCase {
	c := junitCase{Class: r.Theme, Name: r.Case, Seconds: r.Duration.Seconds()}
	text := &junitText{Message: strings.Join(r.Problems, "; ")}
	switch {
	case r.Status == Passed && r.Known:
		c.Failure = &junitText{Message: "listed as known failing, but passes"}
	case r.Status == Failed && !r.Known:
		c.Failure = text
	case r.Status != Passed:
		c.Skipped = text
	}
	return c
}
