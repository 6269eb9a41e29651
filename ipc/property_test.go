package ipc

import (
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"
)

// Any message the encoder accepts comes back the same.
func TestRandomMessagesRoundTrip(t *testing.T) {
	const seed, rounds = 20261201, 3000
	for i := range uint64(rounds) {
		g := generator{rand.New(rand.NewPCG(seed, i))}
		m := g.message()
		exchange := g.exchange(m.Type())
		frame, err := AppendFrame(nil, exchange, m)
		if err != nil {
			t.Fatalf("round %d: encode %+v: %v", i, m, err)
		}
		f, got, err := decodeStream(frame, frameTypes[m.Type()].from)
		if err != nil {
			t.Fatalf("round %d: decode %+v: %v", i, m, err)
		}
		if f.Exchange != exchange || !sameMessage(got, m) {
			t.Fatalf("round %d:\ngot  %+v\nwant %+v", i, got, m)
		}
	}
}

// generator makes random valid messages, fond of the edges.
type generator struct{ *rand.Rand }

func (g generator) exchange(t Type) uint64 {
	switch frameTypes[t].exchange {
	case ofConnection:
		return 0
	case ofRequest:
		return max(g.u64(), 1)
	}
	return g.u64()
}

func (g generator) message() Message {
	switch Type(1 + g.IntN(int(TypeGoaway))) {
	case TypeHello:
		return &Hello{Protocol: uint16(1 + g.IntN(65535)), Client: g.text()}
	case TypeWelcome:
		return g.welcome()
	case TypeRank:
		return g.rank()
	case TypeScores:
		return g.scores()
	case TypeError:
		return &Error{
			ID: g.maybe(g.id()), Code: Code(g.text()), Message: g.text(), Passage: g.pointer(), Tokens: g.pointer(), MaxTokens: g.pointer(),
			Offending: g.pointer(), RetryAfterMS: g.pointer(),
		}
	case TypeCancel:
		return &Cancel{}
	case TypePing:
		return &Ping{}
	case TypePong:
		return g.pong()
	default:
		return &Goaway{Reason: g.text()}
	}
}

func (g generator) welcome() *Welcome {
	return &Welcome{
		Protocol: uint16(1 + g.IntN(65535)), Server: g.text(), Task: g.text(), TaskVersion: g.text(), Model: g.text(), Revision: g.text(),
		Family: g.text(), Backend: g.text(), Precision: g.text(), BundleDigest: g.text(),
		ScoreKind: pick(g, ScoreLogit, ScoreProbability, ScoreUnbounded),
		MaxTokens: min(g.u32(), maxCount), MaxPassages: uint32(1 + g.IntN(MaxPassages)), Pointwise: g.yes(),
	}
}

func (g generator) rank() *Rank {
	r := &Rank{ID: g.id(), Query: g.text(), Truncate: pick(g, TruncateNone, TruncateEnd, TruncateStart), Traceparent: g.maybe(g.text())}
	r.Passages = make([]string, g.size(300))
	for i := range r.Passages {
		r.Passages[i] = g.text()
	}
	r.DeadlineMS, r.MaxPassageTokens = min(g.u32(), maxCount), min(g.u32(), maxCount)
	return r
}

func (g generator) scores() *Scores {
	s := &Scores{ID: g.id(), QueueUS: g.u64(), TokenizeUS: g.u64(), PublicTaskCallWallUS: g.u64(), Batches: g.u32(), HasTokens: g.yes()}
	s.Scores = make([]float32, g.size(300))
	for i := range s.Scores {
		for s.Scores[i] = g.float(); !finite(s.Scores[i]); {
			s.Scores[i] = g.float()
		}
	}
	if s.HasTokens {
		s.Truncated, s.PaddingTokens = g.u32(), g.u64()
		s.PairTokens = make([]uint32, len(s.Scores))
		for i := range s.PairTokens {
			s.PairTokens[i] = g.u32()
		}
	}
	return s
}

func (g generator) pong() *Pong {
	p := &Pong{
		Ready: g.yes(), OldestCallMS: g.u64(), QueuedRequests: g.u64(), QueuedPairs: g.u64(), QueuedTokens: g.u64(), QueuedTokensMax: g.u64(),
		RunningBatches: g.u64(), Counters: g.numbers(), Gauges: g.numbers(),
	}
	for key := range g.numbers() {
		if p.Histograms == nil {
			p.Histograms = make(map[string][]uint64)
		}
		p.Histograms[key] = make([]uint64, g.size(maxElements))
		for i := range p.Histograms[key] {
			p.Histograms[key][i] = g.u64()
		}
	}
	return p
}

func (g generator) numbers() map[string]uint64 {
	var m map[string]uint64
	for range g.size(maxEntries) {
		if m == nil {
			m = make(map[string]uint64)
		}
		m[g.short(maxKey)] = g.u64()
	}
	return m
}

func (g generator) yes() bool { return g.IntN(2) == 0 }

func (g generator) maybe(s string) string {
	if g.yes() {
		return ""
	}
	return s
}

func pick[T any](g generator, values ...T) T { return values[g.IntN(len(values))] }

// size is at most limit, which it often is, and often 0.
func (g generator) size(limit int) int { return pick(g, 0, 1, limit, g.IntN(limit+1)) }

// u64 has any number of bits.
func (g generator) u64() uint64 { return pick(g, 0, 1<<64-1, g.Uint64()>>g.IntN(64)) }

func (g generator) u32() uint32 { return pick(g, 0, 1<<32-1, g.Uint32()>>g.IntN(32)) }

func (g generator) float() float32 { return math.Float32frombits(g.u32()) }

func (g generator) pointer() *uint32 {
	if g.yes() {
		return nil
	}
	return new(g.u32())
}

func (g generator) id() string {
	const first = "abcxyzABCXYZ0189"
	const rest = first + "._:-"
	b := []byte{first[g.IntN(len(first))]}
	for range g.size(MaxID - 1) {
		b = append(b, rest[g.IntN(len(rest))])
	}
	return string(b)
}

// text ends at each side of a string width.
func (g generator) text() string { return g.short(pick(g, 31, 32, 255, 256, MaxShort)) }

// short is at most limit bytes of characters of every length.
func (g generator) short(limit int) string {
	b := make([]byte, 0, limit)
	for range g.size(limit) {
		c := string(pick(g, 'a', ' ', 0, 'é', '語', '🚀', '\U0010ffff'))
		if len(b)+len(c) > limit {
			break
		}
		b = append(b, c...)
	}
	return string(b)
}

// allocatedOver returns the bytes that f allocates if they are more than the bound, else 0. The whole process is measured, and the fuzzing
// engine works beside f: so what is over must be so each time.
func allocatedOver(bound int, f func()) (spent int) {
	for range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		if spent = int(after.TotalAlloc - before.TotalAlloc); spent <= bound {
			return 0
		}
	}
	return spent
}

// allocationBound is what decoding n bytes may cost: the payload's buffer, grown by doubling; at worst 16 bytes for each byte of an array of
// empty strings, 24 with a map's share for a pong; and the fixed cost of a reader's first step and the runtime's own doings.
func allocationBound(n int) int { return 32*n + 192<<10 }

// weight is the memory of a decoded message, without the slack of maps.
func weight(v reflect.Value) int {
	n := int(v.Type().Size())
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			n += weight(v.Elem())
		}
	case reflect.String:
		n += v.Len()
	case reflect.Slice:
		for i := range v.Len() {
			n += weight(v.Index(i))
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			n += weight(it.Key()) + weight(it.Value())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += weight(v.Field(i)) - int(v.Field(i).Type().Size())
		}
	}
	return n
}
