package traffic

import "hash/fnv"

// NullScore is the score of the null Task, computed anew from its description in native/src/null/scoring.h: the 64-bit FNV-1a hash of
// query, a unit separator and passage, its upper 24 bits spread over [-10, 10).
func NullScore(query, passage string) float32 {
	h := fnv.New64a()
	h.Write([]byte(query))
	h.Write([]byte{0x1f})
	h.Write([]byte(passage))
	return float32(float64(h.Sum64()>>40)*20/(1<<24) - 10)
}
