package dataset

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// texts is the authored file: passages in groups of perSubject, and queries with the graded places of eight of them, one of which answers.
type texts struct {
	Passages []string `json:"passages"`
	Queries  []struct {
		Query    string `json:"query"`
		Passages []int  `json:"passages"`
		Grades   []int  `json:"grades"`
	} `json:"queries"`
}

// perSubject is how many passages, one after the other, share a subject.
const perSubject = 8

// seed of the order of the passages, so that the answer has no fixed place.
const seed = 7

func compose(t *texts) (*Dataset, error) {
	random := rand.New(rand.NewPCG(seed, seed))
	d := &Dataset{}
	for i, q := range t.Queries {
		place := slices.Index(q.Grades, Answers)
		if len(q.Passages) != len(q.Grades) || place < 0 || slices.Contains(q.Grades[place+1:], Answers) {
			return nil, fmt.Errorf("query %d: want one grade a passage, and one answer", i)
		}
		answer := q.Passages[place]
		c := Case{Query: q.Query}
		for at, passage := range q.Passages {
			c.add(q.Grades[at], t.Passages[passage])
		}
		c.addShort(t, answer)
		c.addLong(t, answer)
		c.shuffle(random)
		d.Cases = append(d.Cases, c)
	}
	return d, nil
}

func (c *Case) add(grade int, parts ...string) {
	c.Passages = append(c.Passages, strings.Join(parts, " "))
	c.Grades = append(c.Grades, grade)
}

// addShort adds opening sentences of passages that do not answer.
func (c *Case) addShort(t *texts, answer int) {
	same, others := t.neighbours(answer), t.strangers(answer)
	c.add(Related, opening(same[5]))
	c.add(Related, opening(same[6]))
	c.add(Other, opening(others[4]))
	c.add(Other, opening(others[5]))
}

// addLong adds documents of several passages: the answer deep in its subject, the answer among others, the subject without the answer, others.
func (c *Case) addLong(t *texts, answer int) {
	same, others := t.neighbours(answer), t.strangers(answer)
	c.add(Answers, same[0], same[1], t.Passages[answer], same[2])
	c.add(Answers, others[0], t.Passages[answer], others[1])
	c.add(Related, same[2:7]...)
	c.add(Other, others[6:14]...)
}

// neighbours are the other passages of the answer's subject, from the one behind it on.
func (t *texts) neighbours(answer int) []string {
	first := answer - answer%perSubject
	var same []string
	for step := 1; step < perSubject; step++ {
		same = append(same, t.Passages[first+(answer-first+step)%perSubject])
	}
	return same
}

// strangers are passages of other subjects: two subjects' worth, from the subject behind the answer's on.
func (t *texts) strangers(answer int) []string {
	first := answer - answer%perSubject + perSubject
	var others []string
	for step := range 2 * perSubject {
		others = append(others, t.Passages[(first+step)%len(t.Passages)])
	}
	return others
}

// opening is the first sentence.
func opening(passage string) string {
	sentence, _, _ := strings.Cut(passage, ". ")
	return strings.TrimSuffix(sentence, ".") + "."
}

func (c *Case) shuffle(random *rand.Rand) {
	random.Shuffle(len(c.Passages), func(i, j int) {
		c.Passages[i], c.Passages[j] = c.Passages[j], c.Passages[i]
		c.Grades[i], c.Grades[j] = c.Grades[j], c.Grades[i]
	})
}
