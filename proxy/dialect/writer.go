package dialect

import (
	"math"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/proxy/ranking"
)

// appendScore writes the shortest decimal that parses back to the same float32. It is always valid JSON, scores being finite.
func appendScore(dst []byte, score float32) []byte {
	return strconv.AppendFloat(dst, float64(score), 'g', -1, 32)
}

// appendRelevance writes a score as the formats with scores of 0 to 1 want it: a logit through the logistic function, in double
// precision so that it saturates late; a probability as it is; an unbounded score as it is too, since nothing says how it maps to 0..1.
func appendRelevance(dst []byte, score float32, kind ipc.ScoreKind) []byte {
	if kind != ipc.ScoreLogit {
		return appendScore(dst, score)
	}
	return strconv.AppendFloat(dst, 1/(1+math.Exp(-float64(score))), 'g', -1, 64)
}

// top is the first n of an order; n of 0 means all.
func top(order []int32, n uint32) []int32 {
	if n == 0 || int64(n) > int64(len(order)) {
		return order
	}
	return order[:n]
}

// appendUsage writes the member that counts the tokens scored, or nothing if the Task does not count.
func appendUsage(dst []byte, result *ranking.Result) []byte {
	tokens, counted := result.Tokens()
	if !counted {
		return dst
	}
	dst = append(dst, `,"usage":{"prompt_tokens":`...)
	dst = strconv.AppendUint(dst, tokens, 10)
	dst = append(dst, `,"total_tokens":`...)
	dst = strconv.AppendUint(dst, tokens, 10)
	return append(dst, '}')
}

// sentence is an error in one string, for the formats that have one.
func sentence(err *ranking.Error) string {
	if err.Detail == "" {
		return err.Message
	}
	return err.Message + ": " + err.Detail
}

// appendString writes a JSON string. Invalid UTF-8, which no caller has, would come out as replacement characters.
func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}

// appendMillis writes milliseconds with microsecond resolution.
func appendMillis(dst []byte, d time.Duration) []byte {
	return strconv.AppendFloat(dst, float64(d.Microseconds())/1000, 'f', -1, 64)
}

// appendTiming writes the member that a benchmark joins with its own client times, or nothing if t is nil.
func appendTiming(dst []byte, t *Timing) []byte {
	if t == nil {
		return dst
	}
	dst = append(dst, `,"trtmc_timing":{"queue_ms":`...)
	dst = appendMillis(dst, t.Queue)
	dst = append(dst, `,"model_call_ms":`...)
	dst = appendMillis(dst, t.Call)
	dst = append(dst, `,"handler_ms":`...)
	dst = appendMillis(dst, t.Handler)
	return append(dst, '}')
}
