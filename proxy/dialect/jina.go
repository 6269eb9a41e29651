package dialect

import "trtmc-ranking-proxy/proxy/ranking"

// Jina is POST /v1/rerank, which Jina, vLLM and version 1 of Cohere's API share. One answer serves the clients of all: Cohere's read
// id, results and meta, the others model, usage and results.
//
// Documents come back only on request: Cohere's default, while Jina's is the other; a client that wants them says so.
type Jina struct{}

func (Jina) Name() string    { return "jina" }
func (Jina) Paths() []string { return []string{"/v1/rerank"} }

type jinaCall struct{ documents }

// Decode does without a model, as vLLM and version 1 of Cohere do.
func (Jina) Decode(body []byte) (Call, error) {
	call := &jinaCall{newDocuments()}
	err := readDocument(body, func(r *reader) error {
		if err := r.object(func(name string) error { return call.read(r, name) }); err != nil {
			return err
		}
		return call.complete(r)
	})
	if err != nil {
		return nil, err
	}
	return call, nil
}

// AppendResult writes {"id":"...","object":"list","model":"...","usage":{...},"results":[...],"meta":{...},"trtmc_timing":{...}}.
func (c *jinaCall) AppendResult(dst []byte, result *ranking.Result, timing *Timing) []byte {
	dst = append(dst, `{"id":`...)
	dst = appendString(dst, c.request.ID)
	dst = append(dst, `,"object":"list","model":`...)
	dst = appendString(dst, result.Task.Model)
	dst = appendUsage(dst, result)
	dst = c.appendResults(append(dst, ','), result)
	dst = appendMeta(append(dst, ','), "1", result)
	dst = appendTiming(dst, timing)
	return append(dst, '}')
}

func (Jina) Status(err *ranking.Error) int { return err.Kind.Status() }

// AppendError writes {"id":"...","message":"...","detail":"..."}: Cohere's clients read message, Jina's detail.
func (Jina) AppendError(dst []byte, err *ranking.Error, requestID string) []byte {
	words := sentence(err)
	dst = append(dst, `{"id":`...)
	dst = appendString(dst, requestID)
	dst = append(dst, `,"message":`...)
	dst = appendString(dst, words)
	dst = append(dst, `,"detail":`...)
	dst = appendString(dst, words)
	return append(dst, '}')
}
