package dialect

import (
	"net/http"
	"strconv"
	"strings"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/proxy/ranking"
)

// TEI is the ranking call of Hugging Face's text-embeddings-inference: POST /rerank. Servers of Jina's kind have the same path; a body
// with documents in place of texts is theirs and gets their answer. Errors on this path always have TEI's shape.
type TEI struct{}

func (TEI) Name() string    { return "tei" }
func (TEI) Paths() []string { return []string{"/rerank"} }

type teiCall struct {
	request    ranking.Request
	raw        bool // no logistic function
	returnText bool
}

func (c *teiCall) Request() *ranking.Request { return &c.request }

// teiFields are the fields that only TEI has.
type teiFields struct {
	texts                           []string
	rawScores, returnText, truncate bool
	fromStart                       bool // what is cut
}

func (TEI) Decode(body []byte) (Call, error) {
	jina := &jinaCall{newDocuments()}
	var tei teiFields
	err := readDocument(body, func(r *reader) error {
		if err := r.object(func(name string) error { return tei.read(r, name, &jina.documents) }); err != nil {
			return err
		}
		return tei.complete(r, &jina.documents)
	})
	if err != nil {
		return nil, err
	}
	if jina.listGiven {
		return jina, nil
	}
	return tei.call(jina.request.Query), nil
}

func (f *teiFields) read(r *reader, name string, others *documents) (err error) {
	switch name {
	case "texts":
		f.texts, err = r.texts()
	case "raw_scores":
		err = r.optionalBool(&f.rawScores)
	case "return_text":
		err = r.optionalBool(&f.returnText)
	case "truncate":
		err = r.optionalBool(&f.truncate)
	case "truncation_direction":
		f.fromStart, err = readDirection(r)
	default:
		err = others.read(r, name)
	}
	return err
}

// readDirection takes Left and Right, and in lower case, as TEI's document writes its default. Left cuts the start of a text.
func readDirection(r *reader) (left bool, err error) {
	if r.null() {
		return false, nil
	}
	text, err := r.text()
	if err != nil {
		return false, err
	}
	switch strings.ToLower(text) {
	case "left":
		return true, nil
	case "right":
		return false, nil
	}
	return false, ranking.Invalid("bad_truncate", "truncation_direction must be Left or Right", r.offset())
}

func (f *teiFields) complete(r *reader, others *documents) error {
	switch {
	case others.listGiven && f.texts != nil:
		return ranking.Invalid("two_lists", "there are both texts and documents", "texts is TEI's, documents is Jina's")
	case others.listGiven:
		return others.complete(r)
	case !others.queryGiven:
		return r.missingField("query")
	case f.texts == nil:
		return r.missingField("texts")
	}
	return nil
}

// call leaves the model out: the format has none, and TEI ignores one.
func (f *teiFields) call(query string) *teiCall {
	truncate := ipc.TruncateNone
	if f.truncate && f.fromStart {
		truncate = ipc.TruncateStart
	} else if f.truncate {
		truncate = ipc.TruncateEnd
	}
	return &teiCall{
		request: ranking.Request{Rank: ipc.Rank{Query: query, Passages: f.texts, Truncate: truncate}},
		raw:     f.rawScores, returnText: f.returnText,
	}
}

// AppendResult writes [{"index":i,"text":"...","score":x},...]. A bare list has no place for usage or timing.
func (c *teiCall) AppendResult(dst []byte, result *ranking.Result, _ *Timing) []byte {
	dst = append(dst, '[')
	for rank, index := range result.Order {
		if rank > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"index":`...)
		dst = strconv.AppendInt(dst, int64(index), 10)
		if c.returnText {
			dst = append(dst, `,"text":`...)
			dst = appendString(dst, c.request.Passages[index])
		}
		dst = append(dst, `,"score":`...)
		if score := result.Scores.Scores[index]; c.raw {
			dst = appendScore(dst, score)
		} else {
			dst = appendRelevance(dst, score, result.Task.ScoreKind)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// teiError is how TEI tells of an error.
type teiError struct {
	status    int
	errorType string
}

// teiErrors holds what TEI tells otherwise than by the status of the kind. Its router answers 413 to whatever exceeds a limit, 424 when
// the model fails, 422 to a body of the wrong shape.
var teiErrors = map[ranking.Kind]teiError{
	ranking.InputTooLong:           {http.StatusRequestEntityTooLarge, "Validation"},
	ranking.PayloadTooLarge:        {http.StatusRequestEntityTooLarge, "Validation"},
	ranking.Unauthorized:           {http.StatusUnauthorized, "Unauthorized"}, // TEI sends no body
	ranking.BackendRejectedRequest: {http.StatusUnprocessableEntity, "Tokenizer"},
	ranking.ServerBusy:             {http.StatusTooManyRequests, "Overloaded"},
	ranking.BackendFailed:          {http.StatusFailedDependency, "Backend"},
	ranking.InternalError:          {http.StatusInternalServerError, "Backend"},
	ranking.BackendUnavailable:     {http.StatusServiceUnavailable, "Unhealthy"},
	ranking.DeadlineExceeded:       {http.StatusGatewayTimeout, "Backend"},
}

// teiReasons are the invalid requests that TEI does not answer with 400.
var teiReasons = map[string]teiError{
	"no_passages":       {http.StatusBadRequest, "Empty"},
	"too_many_passages": {http.StatusRequestEntityTooLarge, "Validation"},
	"wrong_type":        {http.StatusUnprocessableEntity, "Validation"},
	"missing_field":     {http.StatusUnprocessableEntity, "Validation"},
	"bad_truncate":      {http.StatusUnprocessableEntity, "Validation"},
	"duplicate_field":   {http.StatusUnprocessableEntity, "Validation"},
}

func asTEI(err *ranking.Error) teiError {
	if told, found := teiReasons[err.Reason]; found && err.Kind == ranking.InvalidRequest {
		return told
	}
	if told, found := teiErrors[err.Kind]; found {
		return told
	}
	return teiError{err.Kind.Status(), "Validation"}
}

func (TEI) Status(err *ranking.Error) int { return asTEI(err).status }

// AppendError writes {"error":"...","error_type":"...","request_id":"..."}.
func (TEI) AppendError(dst []byte, err *ranking.Error, requestID string) []byte {
	dst = append(dst, `{"error":`...)
	dst = appendString(dst, sentence(err))
	dst = append(dst, `,"error_type":`...)
	dst = appendString(dst, asTEI(err).errorType)
	dst = append(dst, `,"request_id":`...)
	dst = appendString(dst, requestID)
	return append(dst, '}')
}
