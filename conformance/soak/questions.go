package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"trtmc-ranking-proxy/conformance/traffic"
	"trtmc-ranking-proxy/ipc"
)

// words of the prepared questions.
var words = strings.Fields("bread crust linen bag museum opens nine river bank willow shade tomato soil water mulch bicycle lamp bell " +
	"harbour bridge paint spring orchard apple frost cellar straw kettle steam leaf garden fence rain cloud market stall honey")

// Prepared has the Task itself score questions of many lengths, one at a time and nothing else going on; what it says then it must say in
// every company.
func Prepared(number int, seed uint64) func(context.Context, string) (traffic.Source, error) {
	return func(ctx context.Context, socket string) (traffic.Source, error) {
		conn, err := ipc.Dial(ctx, socket, "ranking-soak/1")
		if err != nil {
			return nil, err
		}
		defer conn.Close()
		random := rand.New(rand.NewPCG(seed, 1))
		var questions []*traffic.Question
		for i := range number {
			q := &traffic.Question{Query: sentence(random, 10)}
			for range 1 + random.IntN(12) {
				q.Passages = append(q.Passages, sentence(random, 120))
			}
			scores, err := conn.Rank(ctx, &ipc.Rank{ID: fmt.Sprintf("prepare-%d", i), Query: q.Query, Passages: q.Passages, Truncate: ipc.TruncateEnd})
			if err != nil {
				return nil, err
			}
			q.Scores = scores.Scores
			questions = append(questions, q)
		}
		return traffic.Choose(questions), nil
	}
}

// Computed needs no Task: it knows what the null Task does.
func Computed(context.Context, string) (traffic.Source, error) { return traffic.Null(8), nil }

func sentence(random *rand.Rand, most int) string {
	said := make([]string, 1+random.IntN(most))
	for i := range said {
		said[i] = words[random.IntN(len(words))]
	}
	return strings.Join(said, " ")
}
