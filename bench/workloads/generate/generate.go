// Package generate makes the built-in workloads from the corpus: the same bytes every time, which a test compares with the committed files.
package generate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"

	"trtmc-ranking-proxy/bench/corpus"
	"trtmc-ranking-proxy/bench/workloads"
)

// JSONL is the uncompressed file of a built-in workload.
func JSONL(name string) ([]byte, error) {
	shape, ok := shapes[name]
	if !ok {
		return nil, fmt.Errorf("no workload %q", name)
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	for _, r := range shape(newWriter(name)) {
		if err := encoder.Encode(r); err != nil {
			return nil, fmt.Errorf("write workload %s: %w", name, err)
		}
	}
	return b.Bytes(), nil
}

// shapes say what each workload is.
var shapes = map[string]func(*Writer) []workloads.Request{
	"W1": func(w *Writer) []workloads.Request { // 32 passages of about 100 words
		return repeat(16, func() workloads.Request { return w.Request(32, w.normal(104, 10)) })
	},
	"W2": func(w *Writer) []workloads.Request { // 100 passages of mixed length
		return repeat(8, func() workloads.Request { return w.mixed() })
	},
	"W3": func(w *Writer) []workloads.Request { // 4 passages of 40 words
		return repeat(64, func() workloads.Request { return w.small() })
	},
	"W4": func(w *Writer) []workloads.Request { // 512 short passages
		return repeat(4, func() workloads.Request { return w.Request(512, w.normal(14, 3)) })
	},
	"W5": bursts,
	"W6": smallBesideMixed,
}

func repeat(n int, request func() workloads.Request) []workloads.Request {
	all := make([]workloads.Request, n)
	for i := range all {
		all[i] = request()
	}
	return all
}

// bursts is a replay of 60 s: passages per request follow a power law (exponent 2.2, 1 to 256), requests come in bursts whose sizes follow
// another (1 to 16), 20 ms apart, with exponential pauses of 1 s on average between bursts.
func bursts(w *Writer) []workloads.Request {
	var all []workloads.Request
	for at := 0.0; at < 60_000; at += w.r.ExpFloat64() * 1000 {
		for range w.powerLaw(2.2, 16) {
			r := w.Request(w.powerLaw(2.2, 256), w.logNormal(60, 0.6, 10, 300))
			r.AtMS = math.Round(at)
			all = append(all, r)
			at += 20
		}
	}
	return all
}

// smallBesideMixed is a replay of 10 s: Poisson arrivals of W3 requests at 10 a second, and one W2 request every second.
func smallBesideMixed(w *Writer) []workloads.Request {
	var all []workloads.Request
	nextMixed := 500.0
	for at := 0.0; at < 10_000; at += w.r.ExpFloat64() * 100 {
		for ; nextMixed <= at; nextMixed += 1000 {
			r := w.mixed()
			r.AtMS, r.Class = nextMixed, "long"
			all = append(all, r)
		}
		r := w.small()
		r.AtMS, r.Class = math.Round(at), "short"
		all = append(all, r)
	}
	return all
}

// Writer makes requests.
type Writer struct {
	r        *rand.Rand
	subjects []corpus.Subject
}

// NewWriter makes a writer whose requests depend on the seed alone.
func NewWriter(seed uint64) *Writer {
	return &Writer{r: rand.New(rand.NewPCG(seed, 20261201)), subjects: corpus.Subjects()}
}

func newWriter(name string) *Writer { return NewWriter(uint64(name[1])) }

// Request is a query and that many distinct passages: every other one on the query's subject, the rest on any. words gives each passage's length.
func (w *Writer) Request(passages int, words func() int) workloads.Request {
	subject := w.subject()
	r := workloads.Request{Query: subject.Query(w.r)}
	seen := make(map[string]bool, passages)
	for len(r.Passages) < passages {
		about := subject
		if len(r.Passages)%2 == 1 {
			about = w.subject()
		}
		n := words()
		text := about.Passage(w.r, n)
		for ; seen[text]; n++ { // there are only so many texts of few words
			text = about.Passage(w.r, n+1)
		}
		seen[text] = true
		r.Passages = append(r.Passages, text)
	}
	return r
}

func (w *Writer) small() workloads.Request { return w.Request(4, func() int { return 40 }) }

func (w *Writer) mixed() workloads.Request {
	return w.Request(100, w.logNormal(200, 0.7, 10, 300))
}

func (w *Writer) subject() corpus.Subject { return w.subjects[w.r.IntN(len(w.subjects))] }

func (w *Writer) normal(mean, deviation float64) func() int {
	return func() int { return max(1, int(math.Round(mean+deviation*w.r.NormFloat64()))) }
}

// logNormal draws again what falls outside the bounds, so that no heap of lengths stands at a bound.
func (w *Writer) logNormal(median, sigma, least, most float64) func() int {
	return func() int {
		for {
			x := math.Round(median * math.Exp(sigma*w.r.NormFloat64()))
			if x >= least && x <= most {
				return int(x)
			}
		}
	}
}

// powerLaw draws from 1 to most with density x^-exponent.
func (w *Writer) powerLaw(exponent float64, most int) int {
	x := math.Pow(1-w.r.Float64(), -1/(exponent-1))
	return min(int(x), most)
}
