package dialect

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/proxy/ranking"
)

// fuzzDecode: what a format accepts is JSON to an independent decoder too, holds the query and the texts that one finds, and can be
// answered in JSON; what it refuses can be told to the client.
func fuzzDecode(f *testing.F, d Dialect, read func(body []byte) (query string, texts []string, ok bool), seeds ...string) {
	for _, seed := range append(seeds, `{"query":[[[[`, `{"a":1,"a":2}`, "\xff", ``) {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		call, err := d.Decode(body)
		if err != nil {
			checkRefusal(t, err)
			return
		}
		got := call.Request()
		if !utf8.Valid(body) || !json.Valid(body) {
			t.Fatalf("accepted what encoding/json refuses: %q", body)
		}
		if query, texts, ok := read(body); ok && (query != got.Query || !equalTexts(texts, got.Passages)) {
			t.Fatalf("%q became %+v", body, got)
		}
		if answer := call.AppendResult(nil, anyResult(len(got.Passages)), new(Timing)); !json.Valid(answer) {
			t.Fatalf("%q is answered by %q", body, answer)
		}
	})
}

func anyResult(passages int) *ranking.Result {
	r := &ranking.Result{Scores: &ipc.Scores{Scores: make([]float32, passages)}, Task: &ipc.Welcome{ScoreKind: ipc.ScoreLogit}}
	for i := range passages {
		r.Order = append(r.Order, int32(i))
	}
	return r
}

// equalTexts compares without regard to nil.
func equalTexts(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// readPlain reads a list of strings; ok is false for other forms, such as documents that are objects.
func readPlain(body []byte, query, list string) (string, []string, bool) {
	var fields map[string]json.RawMessage
	var q string
	var texts []string
	ok := json.Unmarshal(body, &fields) == nil && json.Unmarshal(fields[query], &q) == nil && json.Unmarshal(fields[list], &texts) == nil
	return q, texts, ok && fields["rank_fields"] == nil
}

func FuzzTEIDecode(f *testing.F) {
	fuzzDecode(f, TEI{}, func(body []byte) (string, []string, bool) { return readPlain(body, "query", "texts") },
		`{"query":"tea","texts":["green","black"],"raw_scores":false,"return_text":true,"truncate":true,"truncation_direction":"Left"}`,
		`{"query":"q","documents":["a"]}`, `{"query":"q","texts":["a"],"documents":["a"]}`)
}

func FuzzCohereDecode(f *testing.F) {
	fuzzDecode(f, Cohere{}, func(body []byte) (string, []string, bool) { return readPlain(body, "query", "documents") },
		`{"model":"m","query":"tea","documents":["green","black"],"top_n":1,"return_documents":true,"max_tokens_per_doc":4096}`,
		`{"model":"m","query":"q","documents":[{"text":"a","id":1},"b"],"rank_fields":["text"]}`)
}

func FuzzJinaDecode(f *testing.F) {
	fuzzDecode(f, Jina{}, func(body []byte) (string, []string, bool) { return readPlain(body, "query", "documents") },
		`{"query":"\ud83c\udf75","documents":["\u0000",{"title":"t","body":"b"}],"rank_fields":["title","body"]}`,
		`{"model":null,"query":"q","documents":[{"image":"x"}],"truncate_prompt_tokens":-1}`)
}

func FuzzScoreDecode(f *testing.F) {
	fuzzDecode(f, Score{}, func(body []byte) (string, []string, bool) { return readPlain(body, "text_1", "text_2") },
		`{"model":"m","text_1":"tea","text_2":["green","black"],"use_activation":false}`, `{"text_1":["q"],"text_2":"a"}`)
}
