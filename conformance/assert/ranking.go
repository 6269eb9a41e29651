package assert

import (
	"fmt"
	"math"
	"strings"

	"trtmc-ranking-proxy/conformance/suite"
	"trtmc-ranking-proxy/conformance/wire"
)

func (c *Checker) checkScores(e *suite.Expect, x *Exchange, call int) []string {
	if e.Ranking == nil && e.SameAs == nil {
		return nil
	}
	if err := c.readEntries(x); err != nil {
		return []string{fmt.Sprintf("%v: %s", err, excerpt(x.Answer.Body))}
	}
	var found []string
	if e.Ranking != nil {
		found = ranking(e.Ranking, x.Sent.Passages, x.entries)
	}
	if e.SameAs != nil {
		found = append(found, c.sameAs(e.SameAs, x, call)...)
	}
	return found
}

func (c *Checker) readEntries(x *Exchange) (err error) {
	if x.entries == nil {
		x.entries, err = c.Dialect.Entries(x.Answer.Body)
	}
	return err
}

// ranking runs the checks asked for; each is a function of its own below.
func ranking(r *suite.Ranking, passages []string, entries []wire.Entry) (found []string) {
	check := func(wanted bool, problem string) {
		if wanted && problem != "" {
			found = append(found, problem)
		}
	}
	check(true, count(r, passages, entries))
	check(r.Permutation, permutation(len(passages), entries))
	check(r.Sorted, sorted(entries))
	check(r.Finite, finite(entries))
	check(r.TiesInOrder, tiesInOrder(entries))
	check(r.First != nil, order([]int{deref(r.First)}, entries))
	check(len(r.Order) > 0, order(r.Order, entries))
	check(r.WithinUnit, withinUnit(entries))
	check(r.BeyondUnit, beyondUnit(entries))
	check(r.Distinct > 0, distinct(r.Distinct, entries))
	check(r.Digits > 0, digits(r.Digits, entries))
	check(r.EqualTexts, equalTexts(passages, entries))
	return found
}

func deref(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

func count(r *suite.Ranking, passages []string, entries []wire.Entry) string {
	want := len(passages)
	if r.Count != nil {
		want = *r.Count
	}
	if len(entries) != want {
		return fmt.Sprintf("%d entries, want %d", len(entries), want)
	}
	return ""
}

func permutation(n int, entries []wire.Entry) string {
	seen := make([]bool, n)
	for _, e := range entries {
		if e.Index < 0 || e.Index >= n {
			return fmt.Sprintf("index %d is outside 0..%d", e.Index, n-1)
		}
		if seen[e.Index] {
			return fmt.Sprintf("index %d comes twice", e.Index)
		}
		seen[e.Index] = true
	}
	for i, ok := range seen {
		if !ok {
			return fmt.Sprintf("index %d is missing", i)
		}
	}
	return ""
}

func sorted(entries []wire.Entry) string {
	for i := 1; i < len(entries); i++ {
		if entries[i].Score > entries[i-1].Score {
			return fmt.Sprintf("not sorted: entry %d has %s after %s", i, entries[i].Number, entries[i-1].Number)
		}
	}
	return ""
}

func finite(entries []wire.Entry) string {
	for _, e := range entries {
		if math.IsInf(e.Score, 0) || math.IsInf(float64(e.Float32()), 0) {
			return fmt.Sprintf("the score of index %d is not finite: %s", e.Index, e.Number)
		}
	}
	return ""
}

func tiesInOrder(entries []wire.Entry) string {
	for i := 1; i < len(entries); i++ {
		if entries[i].Score == entries[i-1].Score && entries[i].Index < entries[i-1].Index {
			return fmt.Sprintf("equal scores out of passage order: index %d after %d", entries[i].Index, entries[i-1].Index)
		}
	}
	return ""
}

func order(want []int, entries []wire.Entry) string {
	got := make([]int, 0, len(want))
	for _, e := range entries[:min(len(want), len(entries))] {
		got = append(got, e.Index)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		return fmt.Sprintf("order %v, want %v", got, want)
	}
	return ""
}

func withinUnit(entries []wire.Entry) string {
	for _, e := range entries {
		if e.Score < 0 || e.Score > 1 {
			return fmt.Sprintf("the score of index %d is outside 0..1: %s", e.Index, e.Number)
		}
	}
	return ""
}

func beyondUnit(entries []wire.Entry) string {
	if withinUnit(entries) == "" {
		return "every score lies in 0..1: these are no raw logits"
	}
	return ""
}

func distinct(want int, entries []wire.Entry) string {
	different := map[float64]bool{}
	for _, e := range entries {
		different[e.Score] = true
	}
	if len(different) < want {
		return fmt.Sprintf("%d different scores, want at least %d", len(different), want)
	}
	return ""
}

func digits(want int, entries []wire.Entry) string {
	most := 0
	for _, e := range entries {
		mantissa, _, _ := strings.Cut(strings.ToLower(e.Number), "e")
		written := strings.TrimLeft(strings.NewReplacer("-", "", ".", "").Replace(mantissa), "0")
		most = max(most, len(written))
	}
	if most < want {
		return fmt.Sprintf("no score is written with more than %d significant digits: rounded", most)
	}
	return ""
}

func equalTexts(passages []string, entries []wire.Entry) string {
	first := map[string]wire.Entry{}
	for _, e := range entries {
		if e.Index < 0 || e.Index >= len(passages) {
			continue // permutation reports it
		}
		earlier, ok := first[passages[e.Index]]
		if ok && earlier.Float32() != e.Float32() {
			return fmt.Sprintf("passages %d and %d are equal and score %s and %s", earlier.Index, e.Index, earlier.Number, e.Number)
		}
		first[passages[e.Index]] = e
	}
	return ""
}
