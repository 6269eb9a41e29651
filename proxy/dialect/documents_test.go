package dialect

import (
	"reflect"
	"strings"
	"testing"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/proxy/ranking"
)

func TestDocumentsDecode(t *testing.T) {
	f := func(body string, want ipc.Rank) {
		t.Helper()
		for _, d := range []Dialect{Cohere{}, Jina{}, TEI{}} {
			raw := []byte(body)
			call, err := d.Decode(raw)
			if err != nil {
				t.Fatalf("%s: %s: %v", d.Name(), body, err)
			}
			for i := range raw {
				raw[i] = 'x'
			}
			if got := *call.Request(); got.Model != "m" || !reflect.DeepEqual(got.Rank, want) {
				t.Fatalf("%s: %s:\ngot  %+v\nwant %+v", d.Name(), body, got, want)
			}
		}
	}
	plain := ipc.Rank{Query: "tea", Passages: []string{"green", "black"}, Truncate: ipc.TruncateEnd}
	f(`{"model":"m","query":"tea","documents":["green","black"]}`, plain)
	f(`{"documents":[{"text":"green"},{"text":"black"}],"query":"tea","model":"m"}`, plain)
	f(`{"model":"m","query":"tea","documents":["green",{"id":7,"text":"black","tags":["a",{"text":"no"}]}]}`, plain)
	f(`{"model":"m","query":"tea","documents":["green","black"],"top_n":null,"return_documents":null,"max_tokens_per_doc":null,"rank_fields":null}`, plain)
	f(`{"model":"m","query":"tea","documents":["green","black"],"user":"u","max_chunks_per_doc":10,"priority":0,"x":{"y":[1,2.5e3,null]}}`, plain)
	f(`{"model":"m","query":"tea","documents":["green","black"],"truncate_prompt_tokens":-1}`, plain)
	f(`{"model":"m","query":"tea","documents":["green","black"],"max_tokens_per_doc":4096}`,
		ipc.Rank{Query: "tea", Passages: []string{"green", "black"}, Truncate: ipc.TruncateEnd, MaxPassageTokens: 4096})
	f(`{"rank_fields":["title","body"],"model":"m","query":"tea","documents":[{"body":"leaves","title":"Green"},{"title":"Black","text":"no"},"white"]}`,
		ipc.Rank{Query: "tea", Passages: []string{"Green\nleaves", "Black", "white"}, Truncate: ipc.TruncateEnd})
	f(`{"model":"m","query":"tea","documents":[]}`, ipc.Rank{Query: "tea", Passages: []string{}, Truncate: ipc.TruncateEnd})
}

func TestModelMayBeLeftOutExceptForCohere(t *testing.T) {
	f := func(body string) {
		t.Helper()
		for _, d := range []Dialect{Jina{}, TEI{}} {
			if call, err := d.Decode([]byte(body)); err != nil || call.Request().Model != "" {
				t.Fatalf("%s: %s: %v", d.Name(), body, err)
			}
		}
		refused(t, Cohere{}, body, "missing_field", "missing field model")
	}
	f(`{"query":"q","documents":["a"]}`)
	f(`{"query":"q","documents":["a"],"model":null}`)
}

// refused checks that d refuses body for the reason, and says so in words that hold mention.
func refused(t *testing.T, d Dialect, body, reason, mention string) {
	t.Helper()
	_, err := d.Decode([]byte(body))
	refusal, ok := err.(*ranking.Error)
	if !ok || refusal.Kind != ranking.InvalidRequest || refusal.Reason != reason || !strings.Contains(err.Error(), mention) {
		t.Fatalf("%s: %.300s: got %v, want %s with %q", d.Name(), body, err, reason, mention)
	}
}

func TestDocumentsRefused(t *testing.T) {
	f := func(body, reason, mention string) {
		t.Helper()
		for _, d := range []Dialect{Cohere{}, Jina{}, TEI{}} {
			refused(t, d, body, reason, mention)
		}
	}
	with := func(more string) string { return `{"model":"m","query":"q","documents":["a"],` + more + `}` }
	f(`{"model":"m","documents":["a"]}`, "missing_field", "missing field query")
	f(`{"model":"m","query":{"text":"q"},"documents":["a"]}`, "wrong_type", "query must be a string, not an object")
	f(`{"model":"m","query":null,"documents":["a"]}`, "wrong_type", "query must be a string, not null")
	f(`{"model":"m","query":"q","documents":null}`, "wrong_type", "documents must be an array, not null")
	f(`{"model":"m","query":"q","documents":"a"}`, "wrong_type", "documents must be an array, not a string")
	f(`{"model":"m","query":"q","documents":["a",null]}`, "wrong_type", "documents[1] must be a string or an object with a text, not null")
	f(`{"model":"m","query":"q","documents":["a",7]}`, "wrong_type", "documents[1]")
	f(`{"model":"m","query":"q","documents":["a",{"text":7}]}`, "missing_field", "documents[1] has no string field text")
	f(`{"model":"m","query":"q","documents":[{"image":"data:"}]}`, "missing_field", "text only")
	f(`{"model":"m","query":"q","documents":[{"text":"a"}],"rank_fields":["title"]}`, "missing_field", "documents[0] has no string field title")
	f(`{"model":"m","query":"q","documents":[{"text":"a","text":"b"}]}`, "duplicate_field", "twice")
	f(`{"model":7,"query":"q","documents":["a"]}`, "wrong_type", "model must be a string, not a number")
	f(with(`"top_n":0`), "bad_count", "top_n must be a whole number of at least 1")
	f(with(`"top_n":-1`), "bad_count", "top_n")
	f(with(`"top_n":1.5`), "bad_count", "top_n")
	f(with(`"top_n":99999999999`), "bad_count", "top_n")
	f(with(`"top_n":"3"`), "wrong_type", "top_n must be a number, not a string")
	f(with(`"max_tokens_per_doc":0`), "bad_count", "max_tokens_per_doc")
	f(with(`"return_documents":"yes"`), "wrong_type", "return_documents must be a boolean, not a string")
	f(with(`"rank_fields":"text"`), "wrong_type", "rank_fields must be an array")
	f(with(`"rank_fields":["a","a"]`), "bad_rank_fields", "different")
	f(with(`"rank_fields":["`+strings.Join(strings.Split("abcdefghijklmnopq", ""), `","`)+`"]`), "bad_rank_fields", "at most 16")
	f(with(`"truncate_prompt_tokens":100`), "bad_truncate", "-1")
	f(with(`"truncate_prompt_tokens":"max"`), "wrong_type", "truncate_prompt_tokens")
	f(with(`"extra":"\ud800"`), "bad_json", "surrogate")
	f(with(`"extra":[1,`), "bad_json", "in extra")
	f(with(`"query":"again"`), "duplicate_field", "twice")
	f(`{"model":"m","query":"q","documents":["a"]} {}`, "trailing_data", "behind")
	f(`["q"]`, "wrong_type", "the body must be an object")
	f(``, "empty_body", "empty")
	f(`{"model":"m","query":"q","documents":[`+strings.Repeat(`"",`, 20_000)+`"a"]}`, "too_many_passages", "20001 elements are more than the maximum of 16384")
	f(with(`"extra":`+strings.Repeat("[", 1_000_000)), "bad_json", "byte")
	refused(t, Jina{}, `{"query":"q"}`, "missing_field", "missing field documents")
}

// render decodes a body and renders a result for it, both by the same format.
func render(t *testing.T, d Dialect, body string, result *ranking.Result, timing *Timing) string {
	t.Helper()
	call, err := d.Decode([]byte(body))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	call.Request().ID = "id-1"
	return string(call.AppendResult(nil, result, timing))
}

// scored is a result for two passages, the second better. Without tokens the Task does not count them.
func scored(kind ipc.ScoreKind, scores []float32, tokens ...uint32) *ranking.Result {
	return &ranking.Result{
		Scores: &ipc.Scores{Scores: scores, HasTokens: tokens != nil, PairTokens: tokens},
		Order:  []int32{1, 0}, Task: &ipc.Welcome{Model: "served", ScoreKind: kind},
	}
}

func TestDocumentsAnswers(t *testing.T) {
	f := func(d Dialect, more string, result *ranking.Result, timing *Timing, want string) {
		t.Helper()
		if got := render(t, d, `{"model":"m","query":"q","documents":["a","b\""]`+more+`}`, result, timing); got != want {
			t.Fatalf("%s%s:\ngot  %s\nwant %s", d.Name(), more, got, want)
		}
	}
	counted, silent := scored(ipc.ScoreLogit, []float32{0, 2}, 4, 5), scored(ipc.ScoreLogit, []float32{0, 2})
	const results = `"results":[{"index":1,"relevance_score":0.8807970779778823},{"index":0,"relevance_score":0.5}]`
	f(Cohere{}, ``, counted, nil, `{"id":"id-1",`+results+`,"meta":{"api_version":{"version":"2"},"tokens":{"input_tokens":9}}}`)
	f(Cohere{}, ``, silent, nil, `{"id":"id-1",`+results+`,"meta":{"api_version":{"version":"2"}}}`)
	f(Cohere{}, `,"top_n":1`, silent, nil, `{"id":"id-1","results":[{"index":1,"relevance_score":0.8807970779778823}],"meta":{"api_version":{"version":"2"}}}`)
	f(Cohere{}, `,"top_n":1,"return_documents":true`, silent, nil,
		`{"id":"id-1","results":[{"index":1,"relevance_score":0.8807970779778823,"document":{"text":"b\""}}],"meta":{"api_version":{"version":"2"}}}`)
	f(Cohere{}, `,"top_n":3,"return_documents":false`, silent, new(Timing),
		`{"id":"id-1",`+results+`,"meta":{"api_version":{"version":"2"}},"trtmc_timing":{"queue_ms":0,"model_call_ms":0,"handler_ms":0}}`)
	f(Jina{}, ``, counted, nil, `{"id":"id-1","object":"list","model":"served","usage":{"prompt_tokens":9,"total_tokens":9},`+results+
		`,"meta":{"api_version":{"version":"1"},"tokens":{"input_tokens":9}}}`)
	for _, d := range []Dialect{Jina{}, TEI{}} {
		f(d, ``, silent, nil, `{"id":"id-1","object":"list","model":"served",`+results+`,"meta":{"api_version":{"version":"1"}}}`)
	}
}

// The order is that of the scores also where their logistic function cannot tell them apart, and what is no logit is not squashed.
func TestScales(t *testing.T) {
	f := func(kind ipc.ScoreKind, scores []float32, want string) {
		t.Helper()
		got := render(t, Jina{}, `{"query":"q","documents":["a","b"]}`, scored(kind, scores), nil)
		if !strings.Contains(got, want) {
			t.Fatalf("%s %v: got %s, want %s", kind, scores, got, want)
		}
	}
	f(ipc.ScoreLogit, []float32{100, 101}, `{"index":1,"relevance_score":1},{"index":0,"relevance_score":1}`)
	f(ipc.ScoreLogit, []float32{17, 18}, `{"index":1,"relevance_score":0.9999999847700205},{"index":0,"relevance_score":0.9999999586006244}`)
	f(ipc.ScoreLogit, []float32{-3.4e38, 0}, `{"index":0,"relevance_score":0}`)
	f(ipc.ScoreProbability, []float32{0.25, 0.75}, `{"index":1,"relevance_score":0.75},{"index":0,"relevance_score":0.25}`)
	f(ipc.ScoreUnbounded, []float32{-4, 12.5}, `{"index":1,"relevance_score":12.5},{"index":0,"relevance_score":-4}`)
}

func TestErrorShapes(t *testing.T) {
	f := func(d Dialect, err *ranking.Error, status int, want string) {
		t.Helper()
		if got := string(d.AppendError(nil, err, "id-1")); got != want || d.Status(err) != status {
			t.Fatalf("%s: got %d %s\nwant %d %s", d.Name(), d.Status(err), got, status, want)
		}
	}
	busy := &ranking.Error{Kind: ranking.ServerBusy, Reason: "task", Message: "full \"", Detail: "later"}
	broken := &ranking.Error{Kind: ranking.BackendFailed, Reason: "task", Message: "broken"}
	f(Cohere{}, busy, 429, `{"id":"id-1","message":"full \": later"}`)
	f(Cohere{}, broken, 500, `{"id":"id-1","message":"broken"}`)
	f(Jina{}, busy, 429, `{"id":"id-1","message":"full \": later","detail":"full \": later"}`)
	f(Score{}, busy, 429, `{"error":{"message":"full \": later","type":"server_busy","code":429},"request_id":"id-1"}`)
	f(TEI{}, busy, 429, `{"error":"full \": later","error_type":"Overloaded","request_id":"id-1"}`)
	f(TEI{}, broken, 424, `{"error":"broken","error_type":"Backend","request_id":"id-1"}`)
	f(TEI{}, ranking.Unavailable("", nil), 503, `{"error":"the ranking Task is not available","error_type":"Unhealthy","request_id":"id-1"}`)
	f(TEI{}, ranking.Invalid("no_passages", "none", ""), 400, `{"error":"none","error_type":"Empty","request_id":"id-1"}`)
	f(TEI{}, ranking.Invalid("too_many_passages", "many", ""), 413, `{"error":"many","error_type":"Validation","request_id":"id-1"}`)
	f(TEI{}, ranking.Invalid("wrong_type", "type", ""), 422, `{"error":"type","error_type":"Validation","request_id":"id-1"}`)
	f(TEI{}, ranking.Invalid("bad_json", "json", ""), 400, `{"error":"json","error_type":"Validation","request_id":"id-1"}`)
	f(TEI{}, &ranking.Error{Kind: ranking.InputTooLong, Reason: "task", Message: "long"}, 413, `{"error":"long","error_type":"Validation","request_id":"id-1"}`)
}

// Whose fault an error is does not depend on the door.
func TestStatusesKeepTheBlame(t *testing.T) {
	for _, d := range All(NIM{}) {
		for _, kind := range ranking.Kinds() {
			status := d.Status(&ranking.Error{Kind: kind})
			if (kind.Status() < 500) != (status < 500) && kind != ranking.BackendFailed {
				t.Errorf("%s: %s is %d, elsewhere %d", d.Name(), kind, status, kind.Status())
			}
		}
	}
}
