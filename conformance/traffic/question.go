package traffic

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// Question is a request whose right scores are known beforehand.
type Question struct {
	Query    string
	Passages []string
	Scores   []float32 // in passage order
}

// Source makes questions; it is called by many clients at once, each with a source of random numbers of its own.
type Source func(*rand.Rand) *Question

// Null makes questions for the null Task, of 1 to most passages, no two alike.
func Null(most int) Source {
	return func(random *rand.Rand) *Question {
		q := &Question{Query: fmt.Sprintf("what is %x", random.Uint64())}
		for range 1 + random.IntN(most) {
			passage := fmt.Sprintf("it is %x", random.Uint64())
			q.Passages, q.Scores = append(q.Passages, passage), append(q.Scores, NullScore(q.Query, passage))
		}
		return q
	}
}

// Choose makes questions by choosing among prepared ones.
func Choose(prepared []*Question) Source {
	return func(random *rand.Rand) *Question { return prepared[random.IntN(len(prepared))] }
}

type text struct {
	Text string `json:"text"`
}

// body is the question in NIM's format.
func (q *Question) body(model string) ([]byte, error) {
	passages := make([]text, len(q.Passages))
	for i, passage := range q.Passages {
		passages[i] = text{passage}
	}
	return json.Marshal(map[string]any{"model": model, "query": text{q.Query}, "passages": passages, "truncate": "END"})
}
