package run

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"

	"trtmc-ranking-proxy/conformance/client"
	"trtmc-ranking-proxy/conformance/suite"
)

const wordsMax = 40_000 // no ranking model of today takes more tokens

// tokenBoundary finds the longest passage that truncate NONE accepts, word by word, and checks both sides of that limit: the last one
// accepted has exactly the stated maximum of tokens, the next one is refused with both numbers, and END cuts it to the maximum.
func tokenBoundary(ctx context.Context, c *Config) []string {
	fits, over, err := c.searchLimit(ctx)
	if err != nil {
		return []string{err.Error()}
	}
	at, err := c.words(ctx, fits, "NONE")
	if err != nil {
		return []string{err.Error()}
	}
	above, err := c.words(ctx, over, "NONE")
	if err != nil {
		return []string{err.Error()}
	}
	problems := refused(above)
	if !c.has("usage") || c.Dialect.Name != "nim" {
		return problems
	}
	limit := totalTokens(at)
	for _, n := range []int{limit, limit + 1} {
		if !regexp.MustCompile(fmt.Sprintf(`\b%d\b`, n)).Match(above.Body) {
			problems = append(problems, fmt.Sprintf("%d words are %d tokens and fit; the refusal of one more does not name %d: %.200s", fits, limit, n, above.Body))
		}
	}
	cut, err := c.words(ctx, over, "END")
	if err != nil {
		return append(problems, err.Error())
	}
	if got := totalTokens(cut); cut.Status != http.StatusOK || got != limit {
		problems = append(problems, fmt.Sprintf("END: status %d with %d tokens, want 200 with %d", cut.Status, got, limit))
	}
	return problems
}

func refused(answer *client.Answer) []string {
	if answer.Status/100 != 4 {
		return []string{fmt.Sprintf("one word over the limit: status %d, want 4xx: %.200s", answer.Status, answer.Body)}
	}
	return nil
}

// searchLimit returns the largest word count that is accepted, and the next one.
func (c *Config) searchLimit(ctx context.Context) (fits, over int, err error) {
	fits, over = 0, 64
	for ; over <= wordsMax; over *= 2 {
		answer, err := c.words(ctx, over, "NONE")
		if err != nil {
			return 0, 0, err
		}
		if answer.Status != http.StatusOK {
			break
		}
		fits = over
	}
	if over > wordsMax {
		return 0, 0, fmt.Errorf("%d words are accepted under NONE; a server without a limit is run with --without token-limit", fits)
	}
	for over-fits > 1 {
		middle := (fits + over) / 2
		answer, err := c.words(ctx, middle, "NONE")
		if err != nil {
			return 0, 0, err
		}
		if answer.Status == http.StatusOK {
			fits = middle
		} else {
			over = middle
		}
	}
	if fits == 0 {
		return 0, 0, fmt.Errorf("not even one word is accepted under NONE")
	}
	return fits, over, nil
}

// words ranks one passage of n short words, each a single token in any vocabulary.
func (c *Config) words(ctx context.Context, n int, truncate string) (*client.Answer, error) {
	rank := &suite.Rank{
		Query:    suite.Text{Literal: "the"},
		Passages: []suite.Text{{Rule: &suite.Rule{Text: "the ", Times: n}}},
		Truncate: truncate,
	}
	call, err := c.rankCall(rank, ranking(rank, 0), 0)
	if err != nil {
		return nil, err
	}
	return c.Target.Do(ctx, call)
}

func totalTokens(answer *client.Answer) int {
	var body struct {
		Usage struct {
			TotalTokens int `json:"total_tokens"`
		} `json:"usage"`
	}
	if json.Unmarshal(answer.Body, &body) != nil {
		return -1
	}
	return body.Usage.TotalTokens
}
