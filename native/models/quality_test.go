//go:build e2e

package models

import (
	"math"
	"slices"
	"testing"
)

// The gates of a lossy form against f32, on every set.
const (
	minPearson       = 0.98
	maxMRRDifference = 0.01
)

// f32Tolerance is the largest difference of an f32 score to the one of transformers.
const f32Tolerance = 1e-3

// checkLossy compares a set's scores with its golden logits.
func checkLossy(t *testing.T, queries []query, scores [][]float32) {
	t.Helper()
	var reference, served float64
	var golden, got []float32
	for i, q := range queries {
		reference += reciprocalRank(q.golden, q.relevant) / float64(len(queries))
		served += reciprocalRank(scores[i], q.relevant) / float64(len(queries))
		golden, got = append(golden, q.golden...), append(got, scores[i]...)
	}
	correlation := pearson(golden, got)
	t.Logf("%d queries, %d pairs: MRR@10 %.4f, f32 %.4f; Pearson %.4f; largest difference %.3f",
		len(queries), len(golden), served, reference, correlation, maxDifference(golden, got))
	if !(correlation >= minPearson) {
		t.Errorf("Pearson correlation with f32 is %.4f, want at least %v", correlation, minPearson)
	}
	if !(math.Abs(served-reference) <= maxMRRDifference) {
		t.Errorf("MRR@10 is %.4f, f32 has %.4f: want them within %v", served, reference, maxMRRDifference)
	}
}

func TestDefaultModelRanksLikeF32(t *testing.T) {
	f := func(name string, sets func(*testing.T) map[string][]query) {
		t.Run(name, func(t *testing.T) {
			found := sets(t)
			conn := startTask(t, defaultModel())
			for set, queries := range found {
				t.Run(set, func(t *testing.T) { checkLossy(t, queries, scoreAll(t, conn, queries)) })
			}
		})
	}
	f("own wording", ownSet)
	f("evaluation", evaluationSets)
}

func TestF32EqualsTransformers(t *testing.T) {
	f := func(name string, sets func(*testing.T) map[string][]query, every int) {
		t.Run(name, func(t *testing.T) {
			found := sets(t)
			conn := startTask(t, f32Model(t))
			for set, queries := range found {
				t.Run(set, func(t *testing.T) { checkExact(t, sample(queries, every), scoreAll(t, conn, sample(queries, every))) })
			}
		})
	}
	f("own wording", ownSet, 1)
	f("evaluation", evaluationSets, 16) // f32 is slow: every 16th query
}

func checkExact(t *testing.T, queries []query, scores [][]float32) {
	t.Helper()
	var largest float64
	for i, q := range queries {
		largest = math.Max(largest, maxDifference(q.golden, scores[i]))
	}
	t.Logf("%d queries: largest difference %.2g", len(queries), largest)
	if !(largest <= f32Tolerance) {
		t.Errorf("largest difference to transformers is %v, want at most %v", largest, f32Tolerance)
	}
}

func sample(queries []query, every int) []query {
	var chosen []query
	for i := 0; i < len(queries); i += every {
		chosen = append(chosen, queries[i])
	}
	return chosen
}

// A score must not depend on its company: each passage alone, against all at once and in reverse order.
func TestScoreDoesNotDependOnCompany(t *testing.T) {
	f := func(name string, model func(*testing.T) string, bound float64) {
		t.Run(name, func(t *testing.T) {
			conn := startTask(t, model(t))
			var largest float64
			for _, q := range sample(ownSet(t)["own"], 8) {
				together := scoreAll(t, conn, []query{q})[0]
				reversed := slices.Clone(q.passages)
				slices.Reverse(reversed)
				backwards := scoreAll(t, conn, []query{{text: q.text, passages: reversed}})[0]
				slices.Reverse(backwards)
				largest = math.Max(largest, maxDifference(together, backwards))
				for i, passage := range q.passages {
					alone := scoreAll(t, conn, []query{{text: q.text, passages: []string{passage}}})[0]
					largest = math.Max(largest, maxDifference(alone, together[i:i+1]))
				}
			}
			t.Logf("largest difference %.2g", largest)
			if !(largest <= bound) {
				t.Errorf("largest difference is %v, want at most %v", largest, bound)
			}
		})
	}
	f("int8", func(*testing.T) string { return defaultModel() }, 0.05)
	f("f32", f32Model, 1e-5)
}
