package summary

import (
	"math/rand/v2"
	"time"
)

// point is one good request for the plots of latency against size.
type point struct{ passages, tokens, handlerUS int64 }

// sampler keeps an even sample of the good requests, whatever their number.
type sampler struct {
	random *rand.Rand
	seen   int
	kept   []point
}

const maxPoints = 2000

// newSampler is seeded alike each time: the same records make the same page.
func newSampler() sampler { return sampler{random: rand.New(rand.NewPCG(1, 2))} }

func (s *sampler) add(l *Line) {
	p := point{passages: l.Observation.Passages, handlerUS: l.Timing.Handler}
	if l.Observation.Tokens != nil {
		p.tokens = *l.Observation.Tokens
	}
	s.seen++
	if len(s.kept) < maxPoints {
		s.kept = append(s.kept, p)
	} else if i := s.random.IntN(s.seen); i < maxPoints {
		s.kept[i] = p
	}
}

// timeline counts what ended in each slot of time. Its slots grow wider as the time covered grows longer.
type timeline struct {
	width time.Duration
	slots map[int64]*slot // by time / width
}

type slot struct{ good, failed, passages int64 }

const maxSlots = 240

func newTimeline() timeline { return timeline{width: time.Second, slots: make(map[int64]*slot)} }

func (t *timeline) add(end time.Time, l *Line) {
	at := end.UnixNano() / int64(t.width)
	if t.slots[at] == nil {
		t.slots[at] = new(slot)
	}
	if l.Outcome == ok {
		t.slots[at].good++
		t.slots[at].passages += l.Observation.Passages
	} else {
		t.slots[at].failed++
	}
	for len(t.slots) > maxSlots {
		t.halve()
	}
}

// halve makes slots of twice the width.
func (t *timeline) halve() {
	t.width *= 2
	wider := make(map[int64]*slot, len(t.slots)/2+1)
	for at, s := range t.slots {
		if into := wider[at/2]; into != nil {
			into.good, into.failed, into.passages = into.good+s.good, into.failed+s.failed, into.passages+s.passages
		} else {
			wider[at/2] = s
		}
	}
	t.slots = wider
}

// bounds are the first and the last slot.
func (t *timeline) bounds() (first, last int64) {
	begun := false
	for at := range t.slots {
		if !begun {
			first, last, begun = at, at, true
		}
		first, last = min(first, at), max(last, at)
	}
	return first, last
}
