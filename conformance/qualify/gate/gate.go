// Package gate holds the criteria of a qualification as they are reported: what was demanded, what was measured, and whether it passed.
package gate

import (
	"fmt"
	"math"
)

// Gate is one criterion. AtLeast or AtMost is set; both, and equal, for a number that must be met exactly.
type Gate struct {
	Step     string   `json:"step"`
	Name     string   `json:"name"`
	AtLeast  *float64 `json:"at_least,omitempty"`
	AtMost   *float64 `json:"at_most,omitempty"`
	Measured *float64 `json:"measured"` // null: not a number, or not measured, which never passes
	Passed   bool     `json:"passed"`
}

// AtLeast passes if measured is no less than bound.
func AtLeast(step, name string, bound, measured float64) Gate {
	return (&Gate{Step: step, Name: name, AtLeast: &bound}).with(measured)
}

// AtMost passes if measured is no more than bound.
func AtMost(step, name string, bound, measured float64) Gate {
	return (&Gate{Step: step, Name: name, AtMost: &bound}).with(measured)
}

// Exactly passes if measured is wanted.
func Exactly(step, name string, wanted, measured int) Gate {
	bound := float64(wanted)
	return (&Gate{Step: step, Name: name, AtLeast: &bound, AtMost: &bound}).with(float64(measured))
}

// None passes if there are none of what must not be.
func None(step, name string, measured int) Gate { return Exactly(step, name, 0, measured) }

func (g *Gate) with(measured float64) Gate {
	if !math.IsNaN(measured) && !math.IsInf(measured, 0) { // JSON has neither
		g.Measured = &measured
	}
	g.Passed = g.Holds()
	return *g
}

// Holds computes anew whether what was measured is within the bounds. A gate without bounds or without a measurement does not hold.
func (g *Gate) Holds() bool {
	return g.Measured != nil && (g.AtLeast != nil || g.AtMost != nil) &&
		(g.AtLeast == nil || *g.Measured >= *g.AtLeast) && (g.AtMost == nil || *g.Measured <= *g.AtMost)
}

// Demand is the bound in words.
func (g *Gate) Demand() string {
	switch {
	case g.AtLeast != nil && g.AtMost != nil:
		return fmt.Sprintf("%.6g", *g.AtLeast)
	case g.AtLeast != nil:
		return fmt.Sprintf(">= %.6g", *g.AtLeast)
	case g.AtMost != nil:
		return fmt.Sprintf("<= %.6g", *g.AtMost)
	}
	return "nothing"
}

func (g *Gate) String() string {
	measured := "nothing"
	if g.Measured != nil {
		measured = fmt.Sprintf("%.6g", *g.Measured)
	}
	return fmt.Sprintf("%s: %s: want %s, measured %s", g.Step, g.Name, g.Demand(), measured)
}

// Failed lists the gates that did not pass.
func Failed(gates []Gate) []Gate {
	var failed []Gate
	for _, g := range gates {
		if !g.Passed {
			failed = append(failed, g)
		}
	}
	return failed
}
