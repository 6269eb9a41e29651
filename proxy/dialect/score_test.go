package dialect

import (
	"reflect"
	"testing"

	"trtmc-ranking-proxy/ipc"
)

func TestScoreDecode(t *testing.T) {
	f := func(body, model string, want ipc.Rank) {
		t.Helper()
		call, err := Score{}.Decode([]byte(body))
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if got := call.Request(); got.Model != model || !reflect.DeepEqual(got.Rank, want) {
			t.Fatalf("%s: got %+v", body, got)
		}
	}
	one := ipc.Rank{Query: "tea", Passages: []string{"green"}, Truncate: ipc.TruncateNone}
	two := ipc.Rank{Query: "tea", Passages: []string{"green", "black"}, Truncate: ipc.TruncateNone}
	cut := two
	cut.Truncate = ipc.TruncateEnd
	f(`{"model":"m","text_1":"tea","text_2":"green"}`, "m", one)
	f(`{"text_1":["tea"],"text_2":["green","black"],"encoding_format":"float"}`, "", two)
	f(`{"queries":"tea","documents":["green","black"],"truncate_prompt_tokens":-1}`, "", cut)
	f(`{"text_1":"tea","text_2":[]}`, "", ipc.Rank{Query: "tea", Passages: []string{}, Truncate: ipc.TruncateNone})
}

func TestScoreRefuses(t *testing.T) {
	f := func(body, reason, mention string) {
		t.Helper()
		refused(t, Score{}, body, reason, mention)
	}
	f(`{"text_2":"a"}`, "missing_field", "text_1")
	f(`{"text_1":"a"}`, "missing_field", "text_2")
	f(`{"text_1":["a","b"],"text_2":["c","d"]}`, "many_queries", "text_1 must be one text")
	f(`{"text_1":[],"text_2":["c"]}`, "many_queries", "text_1")
	f(`{"text_1":null,"text_2":["c"]}`, "wrong_type", "text_1 must be a string or an array of strings, not null")
	f(`{"text_1":"a","text_2":[1]}`, "wrong_type", "text_2[0] must be a string")
	f(`{"text_1":"a","text_2":{"content":[]}}`, "wrong_type", "text_2")
	f(`{"text_1":"a","text_2":"b","use_activation":"no"}`, "wrong_type", "use_activation")
	f(`{"text_1":"a","text_2":"b","truncate_prompt_tokens":8}`, "bad_truncate", "-1")
}

// Scores stand in the order of the request, not in that of the ranking.
func TestScoreAnswers(t *testing.T) {
	f := func(more, want string) {
		t.Helper()
		got := render(t, Score{}, `{"text_1":"q","text_2":["a","b"]`+more+`}`, scored(ipc.ScoreLogit, []float32{0, 2}, 4, 5), nil)
		if got != want {
			t.Fatalf("%s: got %s, want %s", more, got, want)
		}
	}
	f(``, `{"id":"id-1","object":"list","model":"served","data":[{"index":0,"object":"score","score":0.5},`+
		`{"index":1,"object":"score","score":0.8807970779778823}],"usage":{"prompt_tokens":9,"total_tokens":9}}`)
	f(`,"use_activation":false`, `{"id":"id-1","object":"list","model":"served","data":[{"index":0,"object":"score","score":0},`+
		`{"index":1,"object":"score","score":2}],"usage":{"prompt_tokens":9,"total_tokens":9}}`)
}
