package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestBodyHasTheWordsOfItsDialect(t *testing.T) {
	f := func(dialect, want string) {
		t.Helper()
		got, err := json.Marshal(Dialects[dialect].Body("m", Request{Query: "q", Passages: []string{"a", "b"}, Truncate: "END", TopN: 1}))
		if err != nil || string(got) != want {
			t.Fatalf("%s: got %s, %v", dialect, got, err)
		}
	}
	f("nim", `{"model":"m","passages":[{"text":"a"},{"text":"b"}],"query":{"text":"q"},"truncate":"END"}`)
	f("tei", `{"query":"q","texts":["a","b"],"truncate":true}`)
	f("cohere", `{"documents":["a","b"],"model":"m","query":"q","top_n":1}`)
	f("jina", `{"documents":["a","b"],"model":"m","query":"q","top_n":1}`)
}

func TestEntriesRefuseWhatAClientWouldTripOver(t *testing.T) {
	f := func(dialect, body, wantErr string) {
		t.Helper()
		_, err := Dialects[dialect].Entries([]byte(body))
		if wantErr == "" && err != nil || wantErr != "" && (err == nil || !strings.Contains(err.Error(), wantErr)) {
			t.Fatalf("%s %s: got %v, want %q", dialect, body, err, wantErr)
		}
	}
	f("nim", `{"rankings":[{"index":1,"logit":-0.5}]}`, "")
	f("tei", `[{"index":0,"score":1}]`, "")
	f("jina", `{"results":[]}`, "")
	f("nim", `[]`, "no JSON object")
	f("nim", `{"rankings":null}`, "no array")
	f("nim", `{"results":[]}`, "no array")
	f("nim", `{"rankings":[{"index":1.5,"logit":1}]}`, "no integer")
	f("nim", `{"rankings":[{"index":"1","logit":1}]}`, "no integer")
	f("nim", `{"rankings":[{"index":1,"logit":null}]}`, "no number")
	f("nim", `{"rankings":[{"index":1,"logit":"2"}]}`, "no number")
	f("nim", `{"rankings":[{"index":1,"score":2}]}`, "no number")
}
