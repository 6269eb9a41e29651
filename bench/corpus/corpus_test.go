package corpus

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestSubjectsAreComplete(t *testing.T) {
	subjects := Subjects()
	if len(subjects) != 10 {
		t.Fatalf("got %d subjects, want 10", len(subjects))
	}
	for _, s := range subjects {
		if len(s.queries) != 2 || len(s.sentences) < 14 {
			t.Errorf("%s: %d queries, %d sentences", s.Name, len(s.queries), len(s.sentences))
		}
		for _, text := range append(s.queries, s.sentences...) {
			if strings.Count(text, "{") != strings.Count(text, "}") {
				t.Errorf("%s: unbalanced braces in %q", s.Name, text)
			}
		}
	}
}

func TestPassageHasExactlyTheWordsAskedFor(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	f := func(words int) {
		t.Helper()
		for _, s := range Subjects() {
			text := s.Passage(r, words)
			if got := len(strings.Fields(text)); got != words {
				t.Errorf("%s: got %d words, want %d: %q", s.Name, got, words, text)
			}
			if strings.ContainsAny(text, "{|}") || !strings.HasSuffix(text, ".") {
				t.Errorf("%s: template shows in %q", s.Name, text)
			}
		}
	}
	f(1)
	f(40)
	f(300)
	f(1000)
}

func TestSameSeedSameText(t *testing.T) {
	f := func(seed uint64) string {
		r := rand.New(rand.NewPCG(seed, 0))
		s := Subjects()[3]
		return s.Query(r) + s.Passage(r, 120)
	}
	if f(1) != f(1) {
		t.Error("one seed gave two texts")
	}
	if f(1) == f(2) {
		t.Error("two seeds gave one text")
	}
}
