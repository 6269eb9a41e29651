package dialect

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// appendScore writes the shortest decimal that parses back to the same float32. It is always valid JSON, scores being finite.
func appendScore(dst []byte, score float32) []byte {
	return strconv.AppendFloat(dst, float64(score), 'g', -1, 32)
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

// appendTiming writes the member that a benchmark joins with its own client times.
func appendTiming(dst []byte, t *Timing) []byte {
	dst = append(dst, `"trtmc_timing":{"queue_ms":`...)
	dst = appendMillis(dst, t.Queue)
	dst = append(dst, `,"model_call_ms":`...)
	dst = appendMillis(dst, t.Call)
	dst = append(dst, `,"handler_ms":`...)
	dst = appendMillis(dst, t.Handler)
	return append(dst, '}')
}
