package ranking

import (
	"cmp"
	"slices"
)

// order sorts passage indices by score, best first. Ties keep passage order, so that an answer is a function of its scores.
func order(scores []float32) []int32 {
	indices := make([]int32, len(scores))
	for i := range indices {
		indices[i] = int32(i)
	}
	slices.SortFunc(indices, func(a, b int32) int {
		if c := cmp.Compare(scores[b], scores[a]); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	return indices
}
