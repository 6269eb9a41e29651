// Package corpus writes English text on ten subjects from sentence templates of the project's own wording (CC0), the same text for the same
// random source. The sentences are natural, so that a tokenizer sees about as many tokens a word as in real passages.
package corpus

import (
	_ "embed"
	"math/rand/v2"
	"strings"
)

//go:embed subjects.txt
var source string

// Subject is a field of knowledge with the queries people ask about it and the sentences that passages are made of.
type Subject struct {
	Name      string
	queries   []string
	sentences []string
}

// Subjects reads the built-in subjects: "# name", "? query" and ". sentence" lines, with {alternatives|in|braces}.
func Subjects() []Subject {
	var all []Subject
	for line := range strings.Lines(source) {
		kind, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch kind {
		case "#":
			all = append(all, Subject{Name: text})
		case "?":
			last := &all[len(all)-1]
			last.queries = append(last.queries, text)
		case ".":
			last := &all[len(all)-1]
			last.sentences = append(last.sentences, text)
		}
	}
	return all
}

// Query is a question on the subject, of about ten words.
func (s Subject) Query(r *rand.Rand) string {
	return fill(r, s.queries[r.IntN(len(s.queries))])
}

// Passage is a text on the subject of exactly the given number of words (at least one): sentences in random order, the last cut to fit.
func (s Subject) Passage(r *rand.Rand, words int) string {
	var got []string
	for len(got) < words {
		for _, i := range r.Perm(len(s.sentences)) {
			if len(got) >= words {
				break
			}
			got = append(got, strings.Fields(fill(r, s.sentences[i]))...)
		}
	}
	return strings.TrimRight(strings.Join(got[:words], " "), ",;.") + "."
}

// fill chooses one of the alternatives in each pair of braces.
func fill(r *rand.Rand, template string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(template, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		choices, after, _ := strings.Cut(rest, "}")
		alternatives := strings.Split(choices, "|")
		b.WriteString(alternatives[r.IntN(len(alternatives))])
		template = after
	}
}
