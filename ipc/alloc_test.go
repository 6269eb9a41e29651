package ipc

import (
	"fmt"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
)

// The hot path allocates what a caller keeps and nothing else. The pools are left out: the race detector empties them at random.
func TestAllocations(t *testing.T) {
	f := func(what string, want float64, do func()) {
		t.Helper()
		if got := testing.AllocsPerRun(100, do); got != want {
			t.Errorf("%s: %v allocations, want %v", what, got, want)
		}
	}
	e := &encoder{}
	e.mp = msgpack.NewEncoder(&e.dst)
	rank := rankOfSize(100)
	buf := make([]byte, 0, 1<<20)
	f("encode rank", 0, func() {
		if _, err := e.frame(buf, rank); err != nil {
			panic(err)
		}
	})

	d := &decoder{}
	d.mp = msgpack.NewDecoder(&d.src)
	decode := func(m Message) func() {
		frame, err := AppendFrame(nil, 1, m)
		if err != nil {
			t.Fatal(err)
		}
		return func() {
			d.src = source{b: frame[headerSize:]}
			if codecs[m.Type()].decode(d); d.fault != nil {
				panic(d.fault)
			}
		}
	}
	f("decode scores: message, id, scores, pair_tokens", 4, decode(scoresOfSize(100)))
	f("decode rank: message, id, query, truncate, passages and each", 5+100, decode(rank))
	f("decode ping: message of no size", 0, decode(&Ping{}))
}

func rankOfSize(n int) *Rank {
	r := &Rank{ID: "6d0d6d3e-2d3c-4d6c-8a52-4b7c3f0f5a11", Query: "which of these is about frames on a socket", Truncate: TruncateEnd, DeadlineMS: 30000}
	for i := range n {
		r.Passages = append(r.Passages, fmt.Sprintf("passage %d says that a frame on a socket has a header and a payload, and that both are checked", i))
	}
	return r
}

func scoresOfSize(n int) *Scores {
	s := &Scores{ID: "6d0d6d3e-2d3c-4d6c-8a52-4b7c3f0f5a11", HasTokens: true, QueueUS: 120, TokenizeUS: 80, PublicTaskCallWallUS: 4000, Batches: 2}
	for i := range n {
		s.Scores = append(s.Scores, float32(i)-5.5)
		s.PairTokens = append(s.PairTokens, 40)
	}
	return s
}
