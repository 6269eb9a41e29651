package dialect

import (
	"reflect"
	"testing"

	"trtmc-ranking-proxy/ipc"
)

func TestTEIDecode(t *testing.T) {
	f := func(more string, truncate ipc.Truncate) {
		t.Helper()
		call, err := TEI{}.Decode([]byte(`{"query":"tea","texts":["green","black"]` + more + `}`))
		if err != nil {
			t.Fatalf("%s: %v", more, err)
		}
		want := ipc.Rank{Query: "tea", Passages: []string{"green", "black"}, Truncate: truncate}
		if got := call.Request(); got.Model != "" || !reflect.DeepEqual(got.Rank, want) {
			t.Fatalf("%s: got %+v", more, got)
		}
	}
	f(``, ipc.TruncateNone)
	f(`,"truncate":null,"truncation_direction":null,"raw_scores":null,"return_text":null`, ipc.TruncateNone)
	f(`,"raw_scores":true,"truncate":false,"truncation_direction":"Right","return_text":true`, ipc.TruncateNone) // as litellm sends it
	f(`,"truncate":true`, ipc.TruncateEnd)
	f(`,"truncation_direction":"right","truncate":true`, ipc.TruncateEnd)
	f(`,"truncation_direction":"Left","truncate":true`, ipc.TruncateStart)
	f(`,"truncation_direction":"left","truncate":true`, ipc.TruncateStart)
	f(`,"truncation_direction":"Left"`, ipc.TruncateNone)
	f(`,"model":"whatever","user":{"a":[1]}`, ipc.TruncateNone) // TEI ignores what it does not know
}

func TestTEIRefuses(t *testing.T) {
	f := func(body, reason, mention string) {
		t.Helper()
		refused(t, TEI{}, body, reason, mention)
	}
	f(`{"query":"q"}`, "missing_field", "missing field texts")
	f(`{"texts":["a"]}`, "missing_field", "missing field query")
	f(`{"query":"q","texts":["a"],"documents":["a"]}`, "two_lists", "both")
	f(`{"query":"q","texts":[],"documents":[]}`, "two_lists", "both")
	f(`{"query":"q","texts":null}`, "wrong_type", "texts must be an array, not null")
	f(`{"query":"q","texts":["a",{"text":"b"}]}`, "wrong_type", "texts[1] must be a string, not an object")
	f(`{"query":["q"],"texts":["a"]}`, "wrong_type", "query must be a string")
	f(`{"query":"q","texts":["a"],"truncate":"END"}`, "wrong_type", "truncate must be a boolean, not a string")
	f(`{"query":"q","texts":["a"],"raw_scores":1}`, "wrong_type", "raw_scores must be a boolean, not a number")
	f(`{"query":"q","texts":["a"],"truncation_direction":"Up"}`, "bad_truncate", "Left or Right")
	f(`{"query":"q","texts":["a"],"truncation_direction":true}`, "wrong_type", "truncation_direction")
	f(`{"query":"q","texts":["a"]`, "bad_json", "too early")
}

func TestTEIAnswers(t *testing.T) {
	f := func(more string, kind ipc.ScoreKind, want string) {
		t.Helper()
		got := render(t, TEI{}, `{"query":"q","texts":["a","b"]`+more+`}`, scored(kind, []float32{0, 2}, 4, 5), new(Timing))
		if got != want {
			t.Fatalf("%s: got %s, want %s", more, got, want)
		}
	}
	f(``, ipc.ScoreLogit, `[{"index":1,"score":0.8807970779778823},{"index":0,"score":0.5}]`)
	f(`,"raw_scores":true`, ipc.ScoreLogit, `[{"index":1,"score":2},{"index":0,"score":0}]`)
	f(`,"return_text":true`, ipc.ScoreProbability, `[{"index":1,"text":"b","score":2},{"index":0,"text":"a","score":0}]`)
}
