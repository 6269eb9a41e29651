package dialect

import (
	"fmt"
	"strconv"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/proxy/ranking"
)

// DefaultModel says when a NIM request that names no model is answered by the served one.
type DefaultModel string

const (
	DefaultModelNull   DefaultModel = "null"   // only if it says "model": null, as nvidia-haystack does; a missing model is refused, as NIM does
	DefaultModelAlways DefaultModel = "always" // also if there is no model field
	DefaultModelNever  DefaultModel = "never"  // exactly as NIM
)

// NIM is the ranking API of NVIDIA NIM: POST /v1/ranking.
type NIM struct {
	DefaultModel DefaultModel
	TopN         bool // top_n and top_k are taken; NIM refuses them as unknown
}

func (NIM) Name() string    { return "nim" }
func (NIM) Paths() []string { return []string{"/v1/ranking"} }

// HostedNIM is the form of NIM's hosted catalogue: the path names the model, and top_k is taken, because litellm sends it there.
type HostedNIM struct{ NIM }

func (HostedNIM) Paths() []string {
	return []string{"/v1/retrieval/{model}/reranking", "/v1/retrieval/{org}/{model}/reranking"}
}

// Decode lets the body leave the model to the path.
func (HostedNIM) Decode(body []byte) (Call, error) {
	return NIM{DefaultModel: DefaultModelAlways, TopN: true}.Decode(body)
}

type nimCall struct {
	request ranking.Request
	topN    uint32 // 0: all
}

func (c *nimCall) Request() *ranking.Request { return &c.request }

// nimFields remembers which fields of a request were there.
type nimFields struct{ model, nullModel, query, passages bool }

func (n NIM) Decode(body []byte) (Call, error) {
	call := &nimCall{request: ranking.Request{Rank: ipc.Rank{Truncate: ipc.TruncateNone}}}
	err := readDocument(body, func(r *reader) error {
		var seen nimFields
		err := r.object(func(name string) error { return n.readField(r, name, call, &seen) })
		if err != nil {
			return err
		}
		return n.checkFields(r, &seen)
	})
	if err != nil {
		return nil, err
	}
	return call, nil
}

func (n NIM) readField(r *reader, name string, call *nimCall, seen *nimFields) (err error) {
	req := &call.request
	switch name {
	case "model":
		seen.model = true
		req.Model, seen.nullModel, err = readModel(r)
	case "query":
		seen.query = true
		req.Query, err = readTextObject(r)
	case "passages":
		seen.passages = true
		req.Passages, err = readNIMPassages(r)
	case "truncate":
		req.Truncate, err = readNIMTruncate(r)
	case "top_n", "top_k":
		if !n.TopN {
			return r.unknownField()
		}
		err = r.optionalCount(&call.topN)
	default:
		return r.unknownField()
	}
	return err
}

func (n NIM) checkFields(r *reader, seen *nimFields) error {
	switch {
	case !seen.query:
		return r.missingField("query")
	case !seen.passages:
		return r.missingField("passages")
	case !seen.model && n.DefaultModel != DefaultModelAlways:
		return r.missingField("model")
	case seen.nullModel && n.DefaultModel == DefaultModelNever:
		return ranking.Invalid("wrong_type", "model must be a string, not null", "")
	}
	return nil
}

// readModel reads a model name, or a null.
func readModel(r *reader) (model string, null bool, err error) {
	if r.null() {
		return "", true, nil
	}
	model, err = r.text()
	if err == nil && model == "" {
		err = ranking.Invalid("blank_model", "model is an empty string", r.offset())
	}
	return model, false, err
}

func readNIMPassages(r *reader) ([]string, error) {
	passages := make([]string, 0, 32) // what NIM's own client sends at once
	err := r.array(func() error {
		text, err := readTextObject(r)
		passages = append(passages, text)
		return err
	})
	return passages, err
}

// readTextObject reads {"text": "..."}, the form of the query and of each passage.
func readTextObject(r *reader) (text string, err error) {
	found := false
	err = r.object(func(name string) (err error) {
		switch name {
		case "text":
			found = true
			text, err = r.text()
		case "image":
			err = ranking.Invalid("image", "this Task is text only: "+r.path()+" is not supported", r.offset())
		default:
			err = r.unknownField()
		}
		return err
	})
	if err == nil && !found {
		err = r.missingField("text")
	}
	return text, err
}

// readNIMTruncate takes null for the default, which is NONE where NIM is self-hosted.
func readNIMTruncate(r *reader) (ipc.Truncate, error) {
	if r.null() {
		return ipc.TruncateNone, nil
	}
	text, err := r.text()
	if err != nil {
		return "", err
	}
	switch truncate := ipc.Truncate(text); truncate {
	case ipc.TruncateNone, ipc.TruncateEnd:
		return truncate, nil
	}
	return "", ranking.Invalid("bad_truncate", fmt.Sprintf("truncate is %q; it must be NONE or END", clip(text)), r.offset())
}

// AppendResult writes {"rankings":[{"index":i,"logit":x},...],"usage":{...},"trtmc_timing":{...}}. Usage is left out when the
// Task does not count tokens.
func (c *nimCall) AppendResult(dst []byte, result *ranking.Result, timing *Timing) []byte {
	dst = append(dst, `{"rankings":[`...)
	for rank, index := range top(result.Order, c.topN) {
		if rank > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"index":`...)
		dst = strconv.AppendInt(dst, int64(index), 10)
		dst = append(dst, `,"logit":`...)
		dst = appendScore(dst, result.Scores.Scores[index])
		dst = append(dst, '}')
	}
	dst = append(dst, ']')
	dst = appendUsage(dst, result)
	dst = appendTiming(dst, timing)
	return append(dst, '}')
}

func (NIM) Status(err *ranking.Error) int { return err.Kind.Status() }

// AppendError writes strings only: langchain-nvidia-ai-endpoints breaks on "detail": null.
func (NIM) AppendError(dst []byte, err *ranking.Error, requestID string) []byte {
	dst = append(dst, `{"error":`...)
	dst = appendString(dst, string(err.Kind))
	dst = append(dst, `,"message":`...)
	dst = appendString(dst, err.Message)
	dst = append(dst, `,"detail":`...)
	dst = appendString(dst, err.Detail)
	dst = append(dst, `,"request_id":`...)
	dst = appendString(dst, requestID)
	return append(dst, '}')
}
