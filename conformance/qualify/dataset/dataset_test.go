package dataset

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const root = "../../.."

func TestThePinnedDataset(t *testing.T) {
	d, err := Load(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	l := d.Lengths()
	t.Logf("%+v", l)
	if l.Queries < 64 || l.PassagesPerQuery != 16 {
		t.Errorf("%d queries with %d passages, want at least 64 with 16", l.Queries, l.PassagesPerQuery)
	}
	if l.PassageWords.Least > 25 || l.PassageWords.Most < 250 {
		t.Errorf("passages have %+v words: want short and long ones", l.PassageWords)
	}
	places := map[int]bool{} // of the first answer
	for i, c := range d.Cases {
		if len(c.Passages) != 16 || len(c.Grades) != 16 {
			t.Errorf("case %d: %d passages, %d grades", i, len(c.Passages), len(c.Grades))
		}
		for grade, want := range map[int]int{Answers: 3, Related: 7, Other: 6} {
			if got := count(c.Grades, grade); got != want {
				t.Errorf("case %d: %d passages of grade %d, want %d", i, got, grade, want)
			}
		}
		if sorted := slices.Sorted(slices.Values(c.Passages)); len(slices.Compact(sorted)) != 16 {
			t.Errorf("case %d repeats a passage", i)
		}
		places[slices.Index(c.Grades, Answers)] = true
	}
	if len(places) < 4 {
		t.Errorf("the first answer stands at %d different places only", len(places))
	}
}

func count(grades []int, grade int) (n int) {
	for _, g := range grades {
		if g == grade {
			n++
		}
	}
	return n
}

func TestOtherTextsAreAnotherDataset(t *testing.T) {
	data, err := os.ReadFile(root + "/" + Source)
	if err != nil {
		t.Fatal(err)
	}
	f := func(name, problem string, change func(*texts)) {
		t.Helper()
		var content texts
		if err := json.Unmarshal(data, &content); err != nil {
			t.Fatal(err)
		}
		change(&content)
		changed, err := json.Marshal(&content)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Load(fstest.MapFS{Source: {Data: changed}}); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: got %v, want %q", name, err, problem)
		}
	}
	f("a word", "pinned is", func(t *texts) { t.Passages[3] += " Indeed." })
	f("a query", "pinned is", func(t *texts) { t.Queries[0].Query = "why" })
	f("no answer", "one answer", func(t *texts) { t.Queries[5].Grades = make([]int, len(t.Queries[5].Grades)) })
	f("two answers", "one answer", func(t *texts) { t.Queries[5].Grades[0], t.Queries[5].Grades[1] = Answers, Answers })
	f("a grade missing", "one grade a passage", func(t *texts) { t.Queries[5].Grades = t.Queries[5].Grades[1:] })
	if _, err := Load(fstest.MapFS{}); err == nil {
		t.Error("a missing file is taken")
	}
}
