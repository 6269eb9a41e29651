package assert

import (
	"fmt"
	"math"

	"trtmc-ranking-proxy/conformance/suite"
	"trtmc-ranking-proxy/conformance/wire"
)

// squashSlope is the steepest slope of the logistic function: a drift of d in the logit is at most d/4 in the squashed score.
const squashSlope = 0.25

func (c *Checker) sameAs(s *suite.SameAs, x *Exchange, call int) []string {
	earlier := c.Earlier[s.Step]
	if len(earlier) == 0 {
		return []string{fmt.Sprintf("step %q left nothing to compare with", s.Step)}
	}
	reference := earlier[min(call, len(earlier)-1)]
	if reference == nil || reference.Answer == nil || c.readEntries(reference) != nil {
		return []string{fmt.Sprintf("the answer of step %q cannot be compared with", s.Step)}
	}
	found := c.compare(s, reference, x)
	if s.Order {
		if problem := order(indices(reference.entries), x.entries); problem != "" {
			found = append(found, problem)
		}
	}
	return found
}

// compare pairs entries by passage text or index and demands that at least one pair exists.
func (c *Checker) compare(s *suite.SameAs, reference, x *Exchange) []string {
	want := byKey(s, reference)
	compared, worst, where := 0, -1.0, ""
	for key, entry := range byKey(s, x) {
		other, ok := want[key]
		if !ok {
			continue
		}
		compared++
		if d := apart(entry, other, s.Bits); d > worst {
			worst, where = d, fmt.Sprintf("index %d scores %s, in step %q %s", entry.Index, entry.Number, s.Step, other.Number)
		}
	}
	if compared == 0 {
		return []string{fmt.Sprintf("shares no passage with step %q", s.Step)}
	}
	return c.judge(s, worst, where)
}

func (c *Checker) judge(s *suite.SameAs, worst float64, where string) []string {
	bound := s.Tolerance
	if s.Drift {
		c.Largest, c.Drifted = max(c.Largest, worst), true
		bound = c.Drift
		if c.Dialect.Squashed {
			bound *= squashSlope
		}
	}
	if worst > bound {
		return []string{fmt.Sprintf("%s: %g apart, at most %g allowed", where, worst, bound)}
	}
	return nil
}

func byKey(s *suite.SameAs, x *Exchange) map[string]wire.Entry {
	entries := map[string]wire.Entry{}
	for _, e := range x.entries {
		switch {
		case e.Index < 0 || e.Index >= len(x.Sent.Passages):
		case s.PerIndex:
			entries[fmt.Sprint(e.Index)] = e
		default:
			entries[x.Sent.Passages[e.Index]] = e
		}
	}
	return entries
}

func indices(entries []wire.Entry) []int {
	list := make([]int, len(entries))
	for i, e := range entries {
		list[i] = e.Index
	}
	return list
}

// apart is infinite when a score is, so that two infinities do not pass as equal. As bits, what is written beyond a float32 does not count.
func apart(a, b wire.Entry, bits bool) float64 {
	d := math.Abs(a.Score - b.Score)
	if bits {
		d = math.Abs(float64(a.Float32()) - float64(b.Float32()))
	}
	if math.IsNaN(d) {
		return math.Inf(1)
	}
	return d
}
