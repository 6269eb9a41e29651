package dialect

import "trtmc-ranking-proxy/proxy/ranking"

// Cohere is version 2 of Cohere's API: POST /v2/rerank. Version 1 shares its path with Jina; see [Jina].
type Cohere struct{}

func (Cohere) Name() string    { return "cohere" }
func (Cohere) Paths() []string { return []string{"/v2/rerank"} }

type cohereCall struct{ documents }

// Decode demands a model, as Cohere does.
func (Cohere) Decode(body []byte) (Call, error) {
	call := &cohereCall{newDocuments()}
	err := readDocument(body, func(r *reader) error {
		if err := r.object(func(name string) error { return call.read(r, name) }); err != nil {
			return err
		}
		if !call.modelNamed {
			return r.missingField("model")
		}
		return call.complete(r)
	})
	if err != nil {
		return nil, err
	}
	return call, nil
}

// AppendResult writes {"id":"...","results":[...],"meta":{...},"trtmc_timing":{...}}; the id is that of the request.
func (c *cohereCall) AppendResult(dst []byte, result *ranking.Result, timing *Timing) []byte {
	dst = append(dst, `{"id":`...)
	dst = appendString(dst, c.request.ID)
	dst = c.appendResults(append(dst, ','), result)
	dst = appendMeta(append(dst, ','), "2", result)
	dst = appendTiming(dst, timing)
	return append(dst, '}')
}

func (Cohere) Status(err *ranking.Error) int { return err.Kind.Status() }

// AppendError writes {"id":"...","message":"..."}.
func (Cohere) AppendError(dst []byte, err *ranking.Error, requestID string) []byte {
	dst = append(dst, `{"id":`...)
	dst = appendString(dst, requestID)
	dst = append(dst, `,"message":`...)
	dst = appendString(dst, sentence(err))
	return append(dst, '}')
}
