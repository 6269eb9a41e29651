package dialect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/proxy/ranking"
)

// documents is a request of Cohere's kind, which Jina, vLLM and others took over with small changes. Fields that are not here are
// skipped, as those servers do: their clients send many of their own.
type documents struct {
	request ranking.Request
	topN    uint32 // 0: all
	echo    bool   // the documents are to stand in the answer

	modelNamed, queryGiven, listGiven bool
	objects                           []object
	rankFields                        []string // of the objects; none: text
}

// object is a document that was not a plain string: what it has of string fields.
type object struct {
	place  int
	fields []field
}

type field struct{ name, text string }

// newDocuments has the defaults of Cohere and Jina, which cut what is too long.
func newDocuments() documents {
	return documents{request: ranking.Request{Rank: ipc.Rank{Truncate: ipc.TruncateEnd}}}
}

func (d *documents) Request() *ranking.Request { return &d.request }

func (d *documents) read(r *reader, name string) (err error) {
	switch name {
	case "model":
		var null bool
		d.request.Model, null, err = readModel(r)
		d.modelNamed = !null
	case "query":
		d.queryGiven = true
		d.request.Query, err = r.text()
	case "documents":
		d.listGiven = true
		err = d.readList(r)
	case "top_n":
		err = r.optionalCount(&d.topN)
	case "return_documents":
		err = r.optionalBool(&d.echo)
	case "max_tokens_per_doc":
		err = r.optionalCount(&d.request.MaxPassageTokens)
	case "rank_fields":
		d.rankFields, err = readRankFields(r)
	case "truncate_prompt_tokens":
		_, err = readTruncatePromptTokens(r)
	default:
		err = r.skip()
	}
	return err
}

// maxRankFields bounds the work of picking fields out of objects.
const maxRankFields = 16

// readRankFields refuses a name that stands twice: the text of a document must not grow beyond its JSON.
func readRankFields(r *reader) ([]string, error) {
	if r.null() {
		return nil, nil
	}
	names, err := r.texts()
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) || i == maxRankFields {
			message := "rank_fields must be at most " + strconv.Itoa(maxRankFields) + " different names"
			return nil, ranking.Invalid("bad_rank_fields", message, r.offset())
		}
	}
	return names, nil
}

// readTruncatePromptTokens takes vLLM's -1 for "cut at the model's own limit". Other limits for a whole pair are refused: ignoring
// one would give other scores than asked for.
func readTruncatePromptTokens(r *reader) (cut bool, err error) {
	if r.null() {
		return false, nil
	}
	if r.decoder.PeekKind() != jsontext.KindNumber {
		return false, r.wrongType("a number")
	}
	raw, err := r.decoder.ReadValue()
	if err != nil {
		return false, syntaxError(err)
	}
	if string(raw) != "-1" {
		return false, ranking.Invalid("bad_truncate", "truncate_prompt_tokens must be -1, the limit of the model", r.offset())
	}
	return true, nil
}

func (d *documents) readList(r *reader) error {
	d.request.Passages = make([]string, 0, 32)
	return r.array(func() (err error) {
		text := ""
		if r.decoder.PeekKind() == jsontext.KindBeginObject {
			err = d.readObject(r)
		} else if r.decoder.PeekKind() == jsontext.KindString {
			text, err = r.text()
		} else {
			err = r.wrongType("a string or an object with a text")
		}
		d.request.Passages = append(d.request.Passages, text)
		return err
	})
}

func (d *documents) readObject(r *reader) error {
	o := object{place: len(d.request.Passages)}
	err := r.object(func(name string) error {
		if r.decoder.PeekKind() != jsontext.KindString {
			return r.skip()
		}
		text, err := r.text()
		o.fields = append(o.fields, field{name, text})
		return err
	})
	d.objects = append(d.objects, o)
	return err
}

// complete checks that the required fields were there, and makes texts of the objects.
func (d *documents) complete(r *reader) error {
	switch {
	case !d.queryGiven:
		return r.missingField("query")
	case !d.listGiven:
		return r.missingField("documents")
	}
	wanted := d.rankFields
	if len(wanted) == 0 {
		wanted = []string{"text"}
	}
	for _, o := range d.objects {
		text, found := o.text(wanted)
		if !found {
			message := "documents[" + strconv.Itoa(o.place) + "] has no string field " + clip(strings.Join(wanted, ", ")) + "; this Task is text only"
			return ranking.Invalid("missing_field", message, "")
		}
		d.request.Passages[o.place] = text
	}
	return nil
}

// text joins the wanted fields that o has, in the order wanted, by line breaks.
func (o *object) text(wanted []string) (text string, found bool) {
	for _, name := range wanted {
		for _, f := range o.fields {
			if f.name != name {
				continue
			}
			if found {
				text += "\n"
			}
			text, found = text+f.text, true
		}
	}
	return text, found
}

// appendResults writes `"results":[{"index":i,"relevance_score":x,"document":{"text":"..."}},...]`.
func (d *documents) appendResults(dst []byte, result *ranking.Result) []byte {
	dst = append(dst, `"results":[`...)
	for rank, index := range top(result.Order, d.topN) {
		if rank > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"index":`...)
		dst = strconv.AppendInt(dst, int64(index), 10)
		dst = append(dst, `,"relevance_score":`...)
		dst = appendRelevance(dst, result.Scores.Scores[index], result.Task.ScoreKind)
		if d.echo {
			dst = append(dst, `,"document":{"text":`...)
			dst = appendString(dst, d.request.Passages[index])
			dst = append(dst, '}')
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// appendMeta writes Cohere's `"meta"` for a version of its API. What it bills in has no meaning here and is left out.
func appendMeta(dst []byte, version string, result *ranking.Result) []byte {
	dst = append(dst, `"meta":{"api_version":{"version":"`...)
	dst = append(dst, version...)
	dst = append(dst, `"}`...)
	if tokens, counted := result.Tokens(); counted {
		dst = append(dst, `,"tokens":{"input_tokens":`...)
		dst = strconv.AppendUint(dst, tokens, 10)
		dst = append(dst, '}')
	}
	return append(dst, '}')
}
