package records

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// encoder appends lines. It keeps its buffers, so that a line allocates nothing.
type encoder struct {
	texts   bool
	one     hash.Hash // of the text at hand
	all     hash.Hash // of the passages' own hashes
	scratch []byte
}

func newEncoder(texts bool) *encoder {
	return &encoder{texts: texts, one: sha256.New(), all: sha256.New()}
}

// modelBytes bounds what is kept of a model name that a client made up.
const modelBytes = 128

// append writes the record as one line, its end included.
func (e *encoder) append(dst []byte, r *Record) []byte {
	dst = appendString(append(dst, linePrefix...), r.ID)
	dst = append(dst, `,"time":"`...)
	dst = r.Time.UTC().AppendFormat(dst, "2006-01-02T15:04:05.000000Z")
	dst = appendString(append(dst, `","route":`...), r.Route)
	dst = appendString(append(dst, `,"operation":"ranking","dialect":`...), r.Dialect)
	dst = appendTask(dst, r)
	dst = strconv.AppendBool(append(dst, `,"warmup":`...), r.Warmup)
	dst = appendInt(dst, `,"in_flight":`, r.InFlight)
	dst = appendInt(dst, `,"status":`, int64(r.Status))
	dst = appendString(append(dst, `,"outcome":`...), string(r.Outcome))
	dst = appendString(append(dst, `,"reason":`...), r.Reason)
	dst = strconv.AppendBool(append(dst, `,"sent":`...), r.Sent)
	dst = appendInt(dst, `,"body_bytes":`, int64(r.BodyBytes))
	dst = appendTiming(dst, r)
	if r.Request != nil {
		dst = e.appendObservation(dst, r)
	}
	return append(dst, "}\n"...)
}

// linePrefix begins every line.
const linePrefix = `{"request_id":`

func appendTask(dst []byte, r *Record) []byte {
	if r.Task == nil {
		return append(dst, `,"backend":""`...)
	}
	dst = appendString(append(dst, `,"backend":`...), r.Task.Backend)
	dst = appendString(append(dst, `,"task":{"model":`...), r.Task.Model)
	dst = appendString(append(dst, `,"revision":`...), r.Task.Revision)
	dst = appendString(append(dst, `,"family":`...), r.Task.Family)
	dst = appendString(append(dst, `,"precision":`...), r.Task.Precision)
	dst = appendString(append(dst, `,"bundle_digest":`...), r.Task.BundleDigest)
	return append(dst, '}')
}

// appendTiming writes whole microseconds, each rounded down, so that parts never add up to more than the whole. What was not
// measured is left out: ipc without a rank sent, the Task's clocks without scores.
func appendTiming(dst []byte, r *Record) []byte {
	dst = appendInt(dst, `,"timing":{"handler_us":`, r.Handler.Microseconds())
	dst = appendInt(dst, `,"decode_us":`, r.Decode.Microseconds())
	if r.Result.RoundTrip > 0 {
		dst = appendInt(dst, `,"ipc_us":`, r.Result.RoundTrip.Microseconds())
	}
	if s := r.Result.Scores; s != nil {
		dst = appendUint(dst, `,"queue_us":`, s.QueueUS)
		dst = appendUint(dst, `,"tokenize_us":`, s.TokenizeUS)
		dst = appendUint(dst, `,"public_task_call_wall_us":`, s.PublicTaskCallWallUS)
		dst = appendUint(dst, `,"batches":`, uint64(s.Batches))
	}
	return append(dst, '}')
}

func (e *encoder) appendObservation(dst []byte, r *Record) []byte {
	req := r.Request
	dst = appendString(append(dst, `,"observation":{"model":`...), req.Model[:min(len(req.Model), modelBytes)])
	dst = appendString(append(dst, `,"truncate":`...), string(req.Truncate))
	if req.Traceparent != "" {
		dst = appendString(append(dst, `,"traceparent":`...), req.Traceparent)
	}
	dst = appendInt(dst, `,"passages":`, int64(len(req.Passages)))
	dst = appendInt(dst, `,"query_bytes":`, int64(len(req.Query)))
	dst = appendList(append(dst, `,"passage_bytes":`...), req.Passages, func(dst []byte, p string) []byte {
		return strconv.AppendInt(dst, int64(len(p)), 10)
	})
	dst = e.appendHashes(dst, req.Query, req.Passages)
	if e.texts {
		dst = appendString(append(dst, `,"query":`...), req.Query)
		dst = appendList(append(dst, `,"texts":`...), req.Passages, appendString)
	}
	if r.Result.Scores != nil {
		dst = appendResult(dst, r)
	}
	return append(dst, '}')
}

// appendHashes identifies the work: the SHA-256 of the query, and one over the concatenated SHA-256 of every passage in order.
func (e *encoder) appendHashes(dst []byte, query string, passages []string) []byte {
	dst = append(dst, `,"query_sha256":"`...)
	dst = hex.AppendEncode(dst, e.sum(query))
	dst = append(dst, `","passages_sha256":"`...)
	e.all.Reset()
	for _, passage := range passages {
		e.all.Write(e.sum(passage))
	}
	e.scratch = e.all.Sum(e.scratch[:0])
	return append(hex.AppendEncode(dst, e.scratch), '"')
}

// sum is valid until the next call.
func (e *encoder) sum(text string) []byte {
	e.one.Reset()
	e.scratch = append(e.scratch[:0], text...)
	e.one.Write(e.scratch)
	e.scratch = e.one.Sum(e.scratch[:0])
	return e.scratch
}

func appendResult(dst []byte, r *Record) []byte {
	if tokens, counted := r.Result.Tokens(); counted {
		dst = appendUint(dst, `,"tokens":`, tokens)
		dst = appendList(append(dst, `,"pair_tokens":`...), r.Result.PairTokens, func(dst []byte, n uint32) []byte {
			return strconv.AppendUint(dst, uint64(n), 10)
		})
		dst = appendUint(dst, `,"truncated":`, uint64(r.Result.Truncated))
		dst = appendUint(dst, `,"padding_tokens":`, r.Result.PaddingTokens)
	}
	dst = appendList(append(dst, `,"scores":`...), r.Result.Scores.Scores, appendScore)
	return appendList(append(dst, `,"order":`...), r.Result.Order, func(dst []byte, index int32) []byte {
		return strconv.AppendInt(dst, int64(index), 10)
	})
}

// appendScore writes the shortest decimal that parses back to the same float32.
func appendScore(dst []byte, score float32) []byte {
	return strconv.AppendFloat(dst, float64(score), 'g', -1, 32)
}

func appendList[T any](dst []byte, list []T, element func([]byte, T) []byte) []byte {
	dst = append(dst, '[')
	for i, value := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = element(dst, value)
	}
	return append(dst, ']')
}

// appendString takes invalid UTF-8, which a model name cut within a character is, for replacement characters.
func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}

func appendInt(dst []byte, key string, n int64) []byte {
	return strconv.AppendInt(append(dst, key...), n, 10)
}

func appendUint(dst []byte, key string, n uint64) []byte {
	return strconv.AppendUint(append(dst, key...), n, 10)
}
