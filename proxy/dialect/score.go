package dialect

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/proxy/ranking"
)

// Score is vLLM's scoring call: POST /score and /v1/score, one text against one or more, scores in the order of the request.
// Several texts on both sides are refused: they are several rankings.
type Score struct{}

func (Score) Name() string    { return "vllm" }
func (Score) Paths() []string { return []string{"/score", "/v1/score"} }

type scoreCall struct {
	request ranking.Request
	raw     bool // no logistic function
}

func (c *scoreCall) Request() *ranking.Request { return &c.request }

// Decode has vLLM's defaults: too long a pair is refused, the logistic function applies.
func (Score) Decode(body []byte) (Call, error) {
	call := &scoreCall{request: ranking.Request{Rank: ipc.Rank{Truncate: ipc.TruncateNone}}}
	var queries []string
	err := readDocument(body, func(r *reader) error {
		if err := r.object(func(name string) error { return call.read(r, name, &queries) }); err != nil {
			return err
		}
		return call.complete(r, queries)
	})
	if err != nil {
		return nil, err
	}
	return call, nil
}

// read knows text_1 and text_2 also by the names that later versions of vLLM gave them.
func (c *scoreCall) read(r *reader, name string, queries *[]string) (err error) {
	switch name {
	case "model":
		c.request.Model, _, err = readModel(r)
	case "text_1", "queries":
		*queries, err = readTextOrTexts(r)
	case "text_2", "documents":
		c.request.Passages, err = readTextOrTexts(r)
	case "use_activation", "activation":
		use := true
		err = r.optionalBool(&use)
		c.raw = !use
	case "truncate_prompt_tokens":
		var cut bool
		if cut, err = readTruncatePromptTokens(r); cut {
			c.request.Truncate = ipc.TruncateEnd
		}
	default:
		err = r.skip()
	}
	return err
}

func readTextOrTexts(r *reader) ([]string, error) {
	switch r.decoder.PeekKind() {
	case jsontext.KindString:
		text, err := r.text()
		return []string{text}, err
	case jsontext.KindBeginArray:
		return r.texts()
	}
	return nil, r.wrongType("a string or an array of strings")
}

func (c *scoreCall) complete(r *reader, queries []string) error {
	switch {
	case queries == nil:
		return r.missingField("text_1")
	case c.request.Passages == nil:
		return r.missingField("text_2")
	case len(queries) != 1:
		return ranking.Invalid("many_queries", "text_1 must be one text", "send a request for each; text_2 may have many")
	}
	c.request.Query = queries[0]
	return nil
}

// AppendResult writes {"id":"...","object":"list","model":"...","data":[{"index":i,"object":"score","score":x},...],"usage":{...}}.
func (c *scoreCall) AppendResult(dst []byte, result *ranking.Result, timing *Timing) []byte {
	dst = append(dst, `{"id":`...)
	dst = appendString(dst, c.request.ID)
	dst = append(dst, `,"object":"list","model":`...)
	dst = appendString(dst, result.Task.Model)
	dst = append(dst, `,"data":[`...)
	for i, score := range result.Scores.Scores {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"index":`...)
		dst = strconv.AppendInt(dst, int64(i), 10)
		dst = append(dst, `,"object":"score","score":`...)
		if c.raw {
			dst = appendScore(dst, score)
		} else {
			dst = appendRelevance(dst, score, result.Task.ScoreKind)
		}
		dst = append(dst, '}')
	}
	dst = appendUsage(append(dst, ']'), result)
	dst = appendTiming(dst, timing)
	return append(dst, '}')
}

func (Score) Status(err *ranking.Error) int { return err.Kind.Status() }

// AppendError writes {"error":{"message":"...","type":"...","code":400},"request_id":"..."}, as servers of OpenAI's kind do.
func (s Score) AppendError(dst []byte, err *ranking.Error, requestID string) []byte {
	dst = append(dst, `{"error":{"message":`...)
	dst = appendString(dst, sentence(err))
	dst = append(dst, `,"type":`...)
	dst = appendString(dst, string(err.Kind))
	dst = append(dst, `,"code":`...)
	dst = strconv.AppendInt(dst, int64(s.Status(err)), 10)
	dst = append(dst, `},"request_id":`...)
	dst = appendString(dst, requestID)
	return append(dst, '}')
}
