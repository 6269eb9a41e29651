//go:build e2e

package models

import (
	"math"
	"slices"
	"testing"
)

// reciprocalRank is 1/rank of the best-placed relevant passage among the first ten, else 0. Ties keep passage order, as the proxy does.
func reciprocalRank(scores []float32, relevant map[int]bool) float64 {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if scores[a] > scores[b] {
			return -1
		}
		if scores[a] < scores[b] {
			return 1
		}
		return 0
	})
	for rank, at := range order[:min(10, len(order))] {
		if relevant[at] {
			return 1 / float64(rank+1)
		}
	}
	return 0
}

// pearson is the correlation of two samples of equal length.
func pearson(a, b []float32) float64 {
	meanA, meanB := mean(a), mean(b)
	var ab, aa, bb float64
	for i := range a {
		da, db := float64(a[i])-meanA, float64(b[i])-meanB
		ab, aa, bb = ab+da*db, aa+da*da, bb+db*db
	}
	return ab / math.Sqrt(aa*bb)
}

func mean(values []float32) float64 {
	var sum float64
	for _, v := range values {
		sum += float64(v)
	}
	return sum / float64(len(values))
}

// maxDifference is the largest |a-b|; a NaN on either side makes it NaN, which passes no bound.
func maxDifference(a, b []float32) float64 {
	var largest float64
	for i := range a {
		largest = math.Max(largest, math.Abs(float64(a[i])-float64(b[i])))
	}
	return largest
}

func TestReciprocalRank(t *testing.T) {
	f := func(scores []float32, relevant int, want float64) {
		t.Helper()
		if got := reciprocalRank(scores, map[int]bool{relevant: true}); got != want {
			t.Errorf("reciprocalRank(%v, %d) = %v, want %v", scores, relevant, got, want)
		}
	}
	f([]float32{3, 2, 1}, 0, 1)
	f([]float32{1, 2, 3}, 0, 1.0/3)
	f([]float32{1, 1, 1}, 1, 1.0/2)
	f([]float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0, 0)
}

func TestPearson(t *testing.T) {
	f := func(a, b []float32, want float64) {
		t.Helper()
		if got := pearson(a, b); math.Abs(got-want) > 1e-12 {
			t.Errorf("pearson(%v, %v) = %v, want %v", a, b, got, want)
		}
	}
	f([]float32{1, 2, 3}, []float32{5, 7, 9}, 1)
	f([]float32{1, 2, 3}, []float32{3, 2, 1}, -1)
	f([]float32{1, 2, 3, 4}, []float32{1, -1, -1, 1}, 0)
}
