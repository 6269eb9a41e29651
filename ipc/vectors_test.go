package ipc

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// vector is an entry of conformance/vectors/*.json; the README beside them says what the keys mean.
type vector struct {
	ID        string
	Direction string
	Hex       string
	Valid     bool
	Canonical bool
	Decoded   struct {
		Exchange uint64
		Type     string
		Fields   map[string]json.RawMessage
	}
	Error Class
}

func (v *vector) from() Sender {
	if v.Direction == FromTask.String() {
		return FromTask
	}
	return FromClient
}

func (v *vector) bytes(tb testing.TB) []byte {
	raw, err := hex.DecodeString(v.Hex)
	if err != nil {
		tb.Fatalf("%s: %v", v.ID, err)
	}
	return raw
}

func readVectors(tb testing.TB) []vector {
	tb.Helper()
	paths, err := filepath.Glob("../conformance/vectors/*.json")
	if err != nil {
		tb.Fatal(err)
	}
	var all []vector
	for _, path := range paths {
		var some []vector
		text, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(text, &some)
		}
		if err != nil {
			tb.Fatalf("%s: %v", path, err)
		}
		all = append(all, some...)
	}
	if len(all) < 80 {
		tb.Fatalf("%d vectors in %d files: too few to mean anything", len(all), len(paths))
	}
	return all
}

func decodeStream(raw []byte, from Sender) (Frame, Message, error) {
	f, err := NewFrameReader(bytes.NewReader(raw), from).Next()
	if err != nil {
		return f, nil, err
	}
	m, err := f.Decode()
	return f, m, err
}

func TestVectorsDecode(t *testing.T) {
	for _, v := range readVectors(t) {
		t.Run(v.ID, func(t *testing.T) {
			frame, m, err := decodeStream(v.bytes(t), v.from())
			if !v.Valid {
				var fault *ProtocolError
				if !errors.As(err, &fault) || fault.Class != v.Error {
					t.Fatalf("got %v, want class %s", err, v.Error)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if frame.Exchange != v.Decoded.Exchange || frame.Type.String() != v.Decoded.Type {
				t.Fatalf("got %s on exchange %d, want %s on %d", frame.Type, frame.Exchange, v.Decoded.Type, v.Decoded.Exchange)
			}
			if want := v.message(t); !sameMessage(m, want) {
				t.Fatalf("got  %+v\nwant %+v", m, want)
			}
		})
	}
}

func TestVectorsEncode(t *testing.T) {
	encoded := 0
	for _, v := range readVectors(t) {
		if !v.Canonical {
			continue
		}
		encoded++
		got, err := AppendFrame([]byte("before"), v.Decoded.Exchange, v.message(t))
		if err != nil {
			t.Fatalf("%s: %v", v.ID, err)
		}
		if want := append([]byte("before"), v.bytes(t)...); !bytes.Equal(got, want) {
			t.Errorf("%s:\ngot  %x\nwant %x", v.ID, got, want)
		}
	}
	if encoded < 40 {
		t.Fatalf("%d canonical vectors", encoded)
	}
}

// A message that no reader would accept is not sent either.
func TestVectorsEncodeRefusesWhatIsRefused(t *testing.T) {
	f := func(want Class, m Message) {
		t.Helper()
		dst := []byte("kept")
		got, err := AppendFrame(dst, 3, m)
		var fault *ProtocolError
		if !errors.As(err, &fault) || fault.Class != want || string(got) != "kept" {
			t.Errorf("got %v and %q, want class %s and nothing written", err, got, want)
		}
	}
	rank := func(change func(*Rank)) *Rank {
		r := &Rank{ID: "r1", Query: "q", Passages: []string{"p"}, Truncate: TruncateNone}
		change(r)
		return r
	}
	f(ClassBadID, rank(func(r *Rank) { r.ID = "" }))
	f(ClassBadID, rank(func(r *Rank) { r.ID = strings.Repeat("a", MaxID+1) }))
	f(ClassBadUTF8, rank(func(r *Rank) { r.Query = "\xed\xa0\x80" }))
	f(ClassBadUTF8, rank(func(r *Rank) { r.Passages = []string{"p", "\xff"} }))
	f(ClassBadValue, rank(func(r *Rank) { r.Truncate = "" }))
	f(ClassOutOfRange, rank(func(r *Rank) { r.DeadlineMS = maxCount + 1 }))
	f(ClassOutOfRange, rank(func(r *Rank) { r.MaxPassageTokens = maxCount + 1 }))
	f(ClassTooLong, rank(func(r *Rank) { r.Traceparent = strings.Repeat("0", MaxShort+1) }))
	f(ClassTooMany, rank(func(r *Rank) { r.Passages = make([]string, MaxPassages+1) }))
	f(ClassFrameTooLarge, rank(func(r *Rank) { r.Query = strings.Repeat("q", MaxPayload) }))
	f(ClassBadExchange, &Hello{Protocol: 1, Client: "c"})
	f(ClassNotFinite, &Scores{ID: "r1", Scores: []float32{1, float32(math.NaN())}})
	f(ClassTooMany, &Scores{ID: "r1", Scores: make([]float32, MaxPassages+1)})
	f(ClassCountMismatch, &Scores{ID: "r1", Scores: []float32{1}, HasTokens: true})
	f(ClassTooLong, &Error{Code: CodeBackendFailed, Message: strings.Repeat("m", MaxShort+1)})
	f(ClassTooMany, &Pong{Counters: manyNumbers(maxEntries + 1)})
	f(ClassTooLong, &Pong{Gauges: map[string]uint64{strings.Repeat("k", maxKey+1): 1}})
	f(ClassTooMany, &Pong{Histograms: map[string][]uint64{"h": make([]uint64, maxElements+1)}})
}

// Limits whose vectors would be too large for a file.
func TestDecodeLargeLimits(t *testing.T) {
	f := func(want Class, frame []byte, from Sender) {
		t.Helper()
		_, _, err := decodeStream(frame, from)
		var fault *ProtocolError
		if errors.As(err, &fault) != (want != "") || want != "" && fault.Class != want {
			t.Errorf("got %v, want class %q", err, want)
		}
	}
	f("", scoresOf(MaxPassages), FromTask)
	f(ClassTooMany, scoresOf(MaxPassages+1), FromTask)

	r := &Rank{ID: "r1", Query: "", Passages: []string{"p"}, Truncate: TruncateNone}
	shortest, err := AppendFrame(nil, 1, r)
	if err != nil {
		t.Fatal(err)
	}
	r.Query = strings.Repeat("q", MaxPayload-(len(shortest)-headerSize)-4) // str32 has 4 bytes more than fixstr
	largest, err := AppendFrame(nil, 1, r)
	if err != nil || len(largest) != headerSize+MaxPayload {
		t.Fatalf("%d bytes, %v", len(largest), err)
	}
	f("", largest, FromClient)
	f(ClassTruncated, largest[:len(largest)-1], FromClient)
}

// scoresOf makes the frame of n zero scores past the encoder, which would refuse too many.
func scoresOf(n int) []byte {
	payload := append([]byte("\x84\xa2id\xa1r\xa6scores\xc6"), byte(n*4>>24), byte(n*4>>16), byte(n*4>>8), byte(n*4))
	payload = append(payload, make([]byte, 4*n)...)
	payload = append(payload, "\xa8queue_us\x00\xb8public_task_call_wall_us\x00"...)
	frame := append(make([]byte, headerSize), payload...)
	putHeader(frame, 1, TypeScores)
	return frame
}

func manyNumbers(n int) map[string]uint64 {
	m := make(map[string]uint64)
	for i := range n {
		m[strconv.Itoa(i)] = uint64(i)
	}
	return m
}

// The worked example of the document is two vectors, one after the other on one stream.
func TestWorkedExample(t *testing.T) {
	document, err := os.ReadFile("PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)## 10\\. Worked example.*?```\n(.*?)```").FindSubmatch(document)
	if block == nil {
		t.Fatal("PROTOCOL.md has no section 10 with a code block")
	}
	want := strings.Join(strings.Fields(string(block[1])), "")
	var got string
	for _, id := range []string{"ping-worked-example", "rank-shortest"} {
		for _, v := range readVectors(t) {
			if v.ID == id {
				got += v.Hex
			}
		}
	}
	if got != want {
		t.Fatalf("document %s\nvectors  %s", want, got)
	}
	raw, _ := hex.DecodeString(got)
	frames := NewFrameReader(bytes.NewReader(raw), FromClient)
	for _, want := range []Frame{{Exchange: 2, Type: TypePing}, {Exchange: 3, Type: TypeRank}} {
		f, err := frames.Next()
		if err != nil || f.Exchange != want.Exchange || f.Type != want.Type {
			t.Fatalf("got %+v, %v", f, err)
		}
	}
	if _, err := frames.Next(); err != io.EOF {
		t.Fatalf("got %v behind the last frame", err)
	}
}

// sameMessage compares float32 by their bits, since 0 == -0.
func sameMessage(a, b Message) bool {
	x, ok := a.(*Scores)
	y, same := b.(*Scores)
	if !ok || !same {
		return reflect.DeepEqual(a, b)
	}
	if len(x.Scores) != len(y.Scores) {
		return false
	}
	for i := range x.Scores {
		if math.Float32bits(x.Scores[i]) != math.Float32bits(y.Scores[i]) {
			return false
		}
	}
	return reflect.DeepEqual(x, y)
}

// message builds the expected message by the names of the document, without the tables under test.
func (v *vector) message(tb testing.TB) Message {
	f := v.Decoded.Fields
	get := func(key string, to any) {
		if raw, ok := f[key]; ok {
			if err := json.Unmarshal(raw, to); err != nil {
				tb.Fatalf("%s: %s: %v", v.ID, key, err)
			}
		}
	}
	switch v.Decoded.Type {
	case "hello":
		m := &Hello{}
		get("protocol", &m.Protocol)
		get("client", &m.Client)
		return m
	case "welcome":
		m := &Welcome{}
		get("protocol", &m.Protocol)
		get("server", &m.Server)
		get("task", &m.Task)
		get("task_version", &m.TaskVersion)
		get("model", &m.Model)
		get("revision", &m.Revision)
		get("family", &m.Family)
		get("backend", &m.Backend)
		get("precision", &m.Precision)
		get("bundle_digest", &m.BundleDigest)
		get("score_kind", &m.ScoreKind)
		get("max_tokens", &m.MaxTokens)
		get("max_passages", &m.MaxPassages)
		get("pointwise", &m.Pointwise)
		return m
	case "rank":
		m := &Rank{}
		get("id", &m.ID)
		get("query", &m.Query)
		get("passages", &m.Passages)
		get("truncate", &m.Truncate)
		get("deadline_ms", &m.DeadlineMS)
		get("max_passage_tokens", &m.MaxPassageTokens)
		get("traceparent", &m.Traceparent)
		return m
	case "scores":
		m := &Scores{}
		var bits []string
		get("id", &m.ID)
		get("scores", &bits)
		for _, s := range bits {
			n, err := strconv.ParseUint(s, 0, 32)
			if err != nil {
				tb.Fatalf("%s: %v", v.ID, err)
			}
			m.Scores = append(m.Scores, math.Float32frombits(uint32(n)))
		}
		_, m.HasTokens = f["pair_tokens"]
		get("pair_tokens", &m.PairTokens)
		get("truncated", &m.Truncated)
		get("queue_us", &m.QueueUS)
		get("tokenize_us", &m.TokenizeUS)
		get("public_task_call_wall_us", &m.PublicTaskCallWallUS)
		get("batches", &m.Batches)
		get("padding_tokens", &m.PaddingTokens)
		return m
	case "error":
		m := &Error{}
		get("id", &m.ID)
		get("code", &m.Code)
		get("message", &m.Message)
		get("passage", &m.Passage)
		get("tokens", &m.Tokens)
		get("max_tokens", &m.MaxTokens)
		get("offending", &m.Offending)
		get("retry_after_ms", &m.RetryAfterMS)
		return m
	case "cancel":
		return &Cancel{}
	case "ping":
		return &Ping{}
	case "pong":
		m := &Pong{}
		get("ready", &m.Ready)
		get("oldest_call_ms", &m.OldestCallMS)
		get("queued_requests", &m.QueuedRequests)
		get("queued_pairs", &m.QueuedPairs)
		get("queued_tokens", &m.QueuedTokens)
		get("queued_tokens_max", &m.QueuedTokensMax)
		get("running_batches", &m.RunningBatches)
		get("counters", &m.Counters)
		get("gauges", &m.Gauges)
		get("histograms", &m.Histograms)
		return m
	case "goaway":
		m := &Goaway{}
		get("reason", &m.Reason)
		return m
	}
	tb.Fatalf("%s: type %q", v.ID, v.Decoded.Type)
	return nil
}
