package ipctest

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"strings"
	"time"

	"trtmc-ranking-proxy/ipc"
)

// Handler answers one rank, on a goroutine of its own.
type Handler func(*Request)

// Request is a rank to answer.
type Request struct {
	*ipc.Rank
	Exchange uint64
	Session  *Session

	ctx context.Context
}

// Context ends when the rank is cancelled or the client has left.
func (r *Request) Context() context.Context { return r.ctx }

// Reply sends m as the answer. Each call sends one.
func (r *Request) Reply(m ipc.Message) { r.Session.Send(r.Exchange, m) }

// Scores returns the right answer.
func (r *Request) Scores() *ipc.Scores {
	s := &ipc.Scores{ID: r.ID, HasTokens: true, QueueUS: 2, TokenizeUS: 1, PublicTaskCallWallUS: 3, Batches: 1} // less than any round trip
	for _, p := range r.Passages {
		s.Scores = append(s.Scores, Score(r.Query, p))
		s.PairTokens = append(s.PairTokens, Tokens(r.Query, p))
	}
	return s
}

// Score counts the words of passage that occur in query, and takes off a thousandth for each word, so that of equal matches the shorter one wins.
func Score(query, passage string) float32 {
	wanted := make(map[string]bool)
	for _, w := range strings.Fields(strings.ToLower(query)) {
		wanted[w] = true
	}
	var score float32
	for _, w := range strings.Fields(strings.ToLower(passage)) {
		score -= 0.001
		if wanted[w] {
			score++
		}
	}
	return score
}

// Tokens counts the words of the pair and three special tokens.
func Tokens(query, passage string) uint32 {
	return uint32(len(strings.Fields(query)) + len(strings.Fields(passage)) + 3)
}

// Answer gives the right answer, or cancelled if the rank was cancelled before.
func Answer(r *Request) {
	if r.ctx.Err() != nil {
		r.Reply(&ipc.Error{ID: r.ID, Code: ipc.CodeCancelled, Message: "cancelled"})
		return
	}
	r.Reply(r.Scores())
}

// After waits for d, or for the rank's cancel, before next.
func After(d time.Duration, next Handler) Handler {
	return func(r *Request) {
		select {
		case <-time.After(d):
		case <-r.ctx.Done():
		}
		next(r)
	}
}

// When waits until ready is closed, or the rank is cancelled, before next.
func When(ready <-chan struct{}, next Handler) Handler {
	return func(r *Request) {
		select {
		case <-ready:
		case <-r.ctx.Done():
		}
		next(r)
	}
}

// Refuse answers with a copy of e that carries the request's id.
func Refuse(e ipc.Error) Handler {
	return func(r *Request) {
		e := e
		e.ID = r.ID
		r.Reply(&e)
	}
}

// Silent never answers.
func Silent(*Request) {}

// Late answers with scores only once the rank was cancelled.
func Late(r *Request) {
	<-r.ctx.Done()
	r.Reply(r.Scores())
}

// Twice answers and answers again.
func Twice(r *Request) {
	r.Reply(r.Scores())
	r.Reply(r.Scores())
}

// Misaddressed answers an exchange that was never opened.
func Misaddressed(r *Request) { r.Session.Send(r.Exchange+1_000_000, r.Scores()) }

// Foreign answers with the id of another rank.
func Foreign(r *Request) {
	s := r.Scores()
	s.ID = "not-" + s.ID[:min(len(s.ID), 100)]
	r.Reply(s)
}

// Short answers with one score too few, so with none for a single passage.
func Short(r *Request) {
	s := r.Scores()
	n := max(len(s.Scores)-1, 0)
	s.Scores, s.PairTokens = s.Scores[:n], s.PairTokens[:n]
	r.Reply(s)
}

// NaN answers with a first score that is not a number. Encoders refuse to write one, so it takes the place of a number that occurs once.
func NaN(r *Request) {
	s := r.Scores()
	s.Scores[0] = 0x1.fedcbap+100
	frame := encode(r.Exchange, s)
	at := bytes.Index(frame, bits(s.Scores[0]))
	copy(frame[at:], bits(float32(math.NaN())))
	r.Session.SendBytes(frame)
}

func bits(f float32) []byte { return binary.LittleEndian.AppendUint32(nil, math.Float32bits(f)) }

// Cut closes the connection after the first n bytes of the right answer.
func Cut(n int) Handler {
	return func(r *Request) {
		frame := encode(r.Exchange, r.Scores())
		r.Session.SendBytes(frame[:min(n, len(frame))])
		r.Session.Close()
	}
}

// Disconnect closes the connection instead of an answer.
func Disconnect(r *Request) { r.Session.Close() }
