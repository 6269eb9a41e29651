package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/proxy/ranking"
)

func TestNIMDecode(t *testing.T) {
	f := func(body string, want ranking.Request) {
		t.Helper()
		raw := []byte(body)
		call, err := NIM{DefaultModel: DefaultModelNull}.Decode(raw)
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		for i := range raw {
			raw[i] = 'x' // what was decoded must not lie in the body, which fasthttp reuses
		}
		if got := *call.Request(); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s:\ngot  %+v\nwant %+v", body, got, want)
		}
	}
	f(`{"model":"m","query":{"text":"tea"},"passages":[{"text":"green"},{"text":"black"}]}`,
		ranking.Request{Model: "m", Rank: ipc.Rank{Query: "tea", Passages: []string{"green", "black"}, Truncate: ipc.TruncateNone}})
	f(`{"truncate":"END","passages":[{"text":"a"}],"query":{"text":"q"},"model":null}`,
		ranking.Request{Rank: ipc.Rank{Query: "q", Passages: []string{"a"}, Truncate: ipc.TruncateEnd}})
	f(`{"model":"m","query":{"text":"q"},"passages":[{"text":"a"}],"truncate":null}`,
		ranking.Request{Model: "m", Rank: ipc.Rank{Query: "q", Passages: []string{"a"}, Truncate: ipc.TruncateNone}})
	f(" {\n\"model\" : \"m\", \"qu\\u0065ry\":{\"text\":\"\\\"q\\\" \\ud83c\\udf75\\n\"},\"passages\":[{\"text\":\"\u8336 \\u0000\"}]}\r\n\t",
		ranking.Request{Model: "m", Rank: ipc.Rank{Query: "\"q\" \U0001F375\n", Passages: []string{"\u8336 \x00"}, Truncate: ipc.TruncateNone}})
	f(`{"model":"m","query":{"text":"q"},"passages":[]}`,
		ranking.Request{Model: "m", Rank: ipc.Rank{Query: "q", Passages: []string{}, Truncate: ipc.TruncateNone}})
}

func TestNIMDecodeKeepsManyPassagesApart(t *testing.T) {
	var body bytes.Buffer
	body.WriteString(`{"model":"m","query":{"text":"q"},"passages":[`)
	for i := range 500 {
		if i > 0 {
			body.WriteByte(',')
		}
		body.WriteString(`{"text":"p\u002d` + strconv.Itoa(i) + `"}`)
	}
	body.WriteString(`]}`)
	call, err := NIM{DefaultModel: DefaultModelNull}.Decode(body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for i, passage := range call.Request().Passages {
		if want := "p-" + strconv.Itoa(i); passage != want {
			t.Fatalf("passage %d is %q, want %q", i, passage, want)
		}
	}
}

func TestNIMRefuses(t *testing.T) {
	f := func(body, reason, mention string) {
		t.Helper()
		_, err := NIM{DefaultModel: DefaultModelNull}.Decode([]byte(body))
		var refusal *ranking.Error
		if !errors.As(err, &refusal) {
			t.Fatalf("%q: got %v, want a refusal", body, err)
		}
		if refusal.Kind != ranking.InvalidRequest || refusal.Reason != reason {
			t.Fatalf("%q: got %s/%s (%v), want %s", body, refusal.Kind, refusal.Reason, err, reason)
		}
		if !strings.Contains(err.Error(), mention) {
			t.Fatalf("%q: %q does not mention %q", body, err, mention)
		}
	}
	const ok = `"model":"m","query":{"text":"q"},"passages":[{"text":"a"}]`

	f(``, "empty_body", "empty")
	f("  \n", "empty_body", "empty")
	f(`{`, "bad_json", "too early")
	f(`{`+ok, "bad_json", "too early")
	f(`{`+ok+`}}`, "bad_json", "byte")
	f(`{`+ok+`} 1`, "trailing_data", "behind")
	f(`{`+ok+`}{}`, "trailing_data", "behind")
	f(`{`+ok+`,}`, "bad_json", "byte")
	f(`{`+ok+`} garbage`, "bad_json", "byte 61")
	f(`{'model':1}`, "bad_json", "byte 1")
	f(`null`, "wrong_type", "the body must be an object, not null")
	f(`[]`, "wrong_type", "the body must be an object, not an array")
	f(`"text"`, "wrong_type", "not a string")
	f(`{"model":"m","model":"m"}`, "duplicate_field", "twice")
	f(`{"model":"m","mod\u0065l":"m"}`, "duplicate_field", "twice")
	f(`{"model":"m","query":{"text":"a","text":"b"}}`, "duplicate_field", "query")

	f(`{`+ok+`,"top_n":1}`, "unknown_field", "unknown field top_n")
	f(`{`+ok+`,"":1}`, "unknown_field", "unknown field")
	f(`{"model":"m","query":{"text":"q","lang":"en"},"passages":[]}`, "unknown_field", "query.lang")
	f(`{"model":"m","query":{"text":"q"},"passages":[{"text":"a"},{"text":"b","id":3}]}`, "unknown_field", "passages[1].id")
	f(`{"`+strings.Repeat("x", 5000)+`":1}`, "unknown_field", "xxx...")
	f(`{"model":"m","query":{"text":"q"},"passages":[{"text":"","image":"data:image/png;base64,AA=="}]}`, "image", "text only: passages[0].image")

	f(`{"query":{"text":"q"},"passages":[{"text":"a"}]}`, "missing_field", "missing field model")
	f(`{"model":"m","passages":[{"text":"a"}]}`, "missing_field", "missing field query")
	f(`{"model":"m","query":{"text":"q"}}`, "missing_field", "missing field passages")
	f(`{"model":"m","query":{},"passages":[{"text":"a"}]}`, "missing_field", "missing field query.text")
	f(`{"model":"m","query":{"text":"q"},"passages":[{"text":"a"},{}]}`, "missing_field", "missing field passages[1].text")

	f(`{"model":1,"query":{"text":"q"},"passages":[{"text":"a"}]}`, "wrong_type", "model must be a string, not a number")
	f(`{"model":"","query":{"text":"q"},"passages":[{"text":"a"}]}`, "blank_model", "model")
	f(`{"model":"m","query":null,"passages":[{"text":"a"}]}`, "wrong_type", "query must be an object, not null")
	f(`{"model":"m","query":"q","passages":[{"text":"a"}]}`, "wrong_type", "query must be an object, not a string")
	f(`{"model":"m","query":{"text":null},"passages":[{"text":"a"}]}`, "wrong_type", "query.text must be a string, not null")
	f(`{"model":"m","query":{"text":["q"]},"passages":[{"text":"a"}]}`, "wrong_type", "query.text must be a string, not an array")
	f(`{"model":"m","query":{"text":"q"},"passages":null}`, "wrong_type", "passages must be an array, not null")
	f(`{"model":"m","query":{"text":"q"},"passages":{"text":"a"}}`, "wrong_type", "passages must be an array, not an object")
	f(`{"model":"m","query":{"text":"q"},"passages":["a"]}`, "wrong_type", "passages[0] must be an object, not a string")
	f(`{"model":"m","query":{"text":"q"},"passages":[{"text":"a"},null]}`, "wrong_type", "passages[1] must be an object, not null")
	f(`{"model":"m","query":{"text":"q"},"passages":[{"text":"a"},{"text":7}]}`, "wrong_type", "passages[1].text must be a string, not a number")
	f(`{"model":"m","query":{"text":"q"},"passages":[{"text":true}]}`, "wrong_type", "a boolean")
	f(`{`+ok+`,"truncate":"START"}`, "bad_truncate", "NONE or END")
	f(`{`+ok+`,"truncate":"none"}`, "bad_truncate", "NONE or END")
	f(`{`+ok+`,"truncate":true}`, "wrong_type", "truncate")

	f("{\"model\":\"m\",\"query\":{\"text\":\"\xff\"},\"passages\":[{\"text\":\"a\"}]}", "bad_json", "UTF-8")
	f("{\"model\":\"m\",\"query\":{\"text\":\"\xed\xa0\x80\"},\"passages\":[{\"text\":\"a\"}]}", "bad_json", "UTF-8")
	f("{\"model\":\"m\",\"query\":{\"text\":\"\xc0\xaf\"},\"passages\":[{\"text\":\"a\"}]}", "bad_json", "UTF-8")
	f(`{"model":"m","query":{"text":"\ud83c"},"passages":[{"text":"a"}]}`, "bad_json", "surrogate")
	f(`{"model":"m","query":{"text":"\udf75 "},"passages":[{"text":"a"}]}`, "bad_json", "surrogate")
	f("{\"model\":\"m\",\"query\":{\"text\":\"a\nb\"},\"passages\":[{\"text\":\"a\"}]}", "bad_json", "byte")
	f("{\"model\":\"m\",\"query\":{\"text\":\"a\x00b\"},\"passages\":[{\"text\":\"a\"}]}", "bad_json", "byte")
	f("\xef\xbb\xbf{"+ok+"}", "bad_json", "byte")
	f(`{"passages":`+strings.Repeat("[", 1_000_000), "wrong_type", "passages[0] must be an object, not an array")
	f(`{"model":1e999999}`, "wrong_type", "a number")
}

func TestNIMDefaultModel(t *testing.T) {
	const without, null = `{"query":{"text":"q"},"passages":[{"text":"a"}]}`, `{"model":null,"query":{"text":"q"},"passages":[{"text":"a"}]}`
	f := func(mode DefaultModel, body string, accepted bool) {
		t.Helper()
		if _, err := (NIM{DefaultModel: mode}).Decode([]byte(body)); (err == nil) != accepted {
			t.Fatalf("%s, %s: got %v", mode, body, err)
		}
	}
	f(DefaultModelNull, without, false)
	f(DefaultModelNull, null, true)
	f(DefaultModelAlways, without, true)
	f(DefaultModelAlways, null, true)
	f(DefaultModelNever, without, false)
	f(DefaultModelNever, null, false)
}

func TestNIMTopN(t *testing.T) {
	f := func(d Dialect, field, value string, want int) {
		t.Helper()
		body := `{"model":"m","query":{"text":"q"},"passages":[{"text":"a"},{"text":"b"}],"` + field + `":` + value + `}`
		if want == 0 {
			refused(t, d, body, "unknown_field", "unknown field "+field)
			return
		}
		if got := strings.Count(render(t, d, body, scored(ipc.ScoreLogit, []float32{1, 2}), nil), "index"); got != want {
			t.Fatalf("%T, %s: %d entries, want %d", d, body, got, want)
		}
	}
	for _, field := range []string{"top_n", "top_k"} {
		f(NIM{}, field, "1", 0)
		for _, d := range []Dialect{NIM{TopN: true}, HostedNIM{}} {
			f(d, field, "1", 1)
			f(d, field, "2", 2)
			f(d, field, "9", 2)
			f(d, field, "null", 2)
			refused(t, d, `{"model":"m","query":{"text":"q"},"passages":[{"text":"a"}],"`+field+`":0}`, "bad_count", field)
		}
	}
	refused(t, HostedNIM{}, `{"query":{"text":"q"},"passages":[{"text":"a"}],"user":"u"}`, "unknown_field", "user")
}

func TestNIMAppendResult(t *testing.T) {
	f := func(scores *ipc.Scores, order []int32, timing *Timing, want string) {
		t.Helper()
		got := (&nimCall{}).AppendResult(nil, &ranking.Result{Scores: scores, Order: order}, timing)
		if string(got) != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	}
	f(&ipc.Scores{Scores: []float32{-0.5, 7.25}}, []int32{1, 0}, nil,
		`{"rankings":[{"index":1,"logit":7.25},{"index":0,"logit":-0.5}]}`)
	f(&ipc.Scores{Scores: []float32{1e-7}, HasTokens: true, PairTokens: []uint32{9}}, []int32{0},
		&Timing{Queue: 1500 * time.Microsecond, Call: 2 * time.Millisecond, Handler: 4001 * time.Microsecond},
		`{"rankings":[{"index":0,"logit":1e-07}],"usage":{"prompt_tokens":9,"total_tokens":9},`+
			`"trtmc_timing":{"queue_ms":1.5,"model_call_ms":2,"handler_ms":4.001}}`)
}

func TestNIMAppendErrorHasOnlyStrings(t *testing.T) {
	body := NIM{}.AppendError(nil, &ranking.Error{Kind: ranking.ServerBusy, Message: "full \"\x01\u2028"}, "id-1")
	var got map[string]string
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	want := map[string]string{"error": "server_busy", "message": "full \"\x01\u2028", "detail": "", "request_id": "id-1"}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

// Most clients parse into a double and some of them narrow it afterwards; both ways must give the Task's float32 back.
func TestScoresRoundTrip(t *testing.T) {
	f := func(score float32) {
		t.Helper()
		text := appendScore(nil, score)
		var wide float64
		if err := json.Unmarshal(text, &wide); err != nil {
			t.Fatalf("%x prints as %s: %v", math.Float32bits(score), text, err)
		}
		narrow, err := strconv.ParseFloat(string(text), 32)
		if err != nil || math.Float32bits(float32(narrow)) != math.Float32bits(score) || math.Float32bits(float32(wide)) != math.Float32bits(score) {
			t.Fatalf("%x prints as %s, which reads as %x and %x", math.Float32bits(score), text, float32(narrow), float32(wide))
		}
	}
	for _, special := range []float32{0, float32(math.Copysign(0, -1)), math.MaxFloat32, -math.MaxFloat32,
		math.SmallestNonzeroFloat32, 0x1p-126, 1, 0.1, 1e6, 16777216, 1.0000001} {
		f(special)
	}
	random := rand.New(rand.NewPCG(3, 1))
	for range 200_000 {
		score := math.Float32frombits(random.Uint32())
		if !math.IsNaN(float64(score)) && !math.IsInf(float64(score), 0) {
			f(score)
		}
	}
}

func FuzzNIMDecode(f *testing.F) {
	for _, seed := range []string{
		`{"model":"m","query":{"text":"tea"},"passages":[{"text":"green"},{"text":"black"}],"truncate":"END"}`,
		`{"model":null,"query":{"text":"\ud83c\udf75"},"passages":[{"text":"\u0000"}]}`,
		`{"model":"m","query":{"text":"q"},"passages":[{"image":"x"}]}`, `{"passages":[[[[`, `{"a":1,"a":2}`, "\xff", ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		call, err := NIM{DefaultModel: DefaultModelNull}.Decode(body)
		if err != nil {
			checkRefusal(t, err)
			return
		}
		checkFaithful(t, body, call.Request())
	})
}

func checkRefusal(t *testing.T, err error) {
	var refusal *ranking.Error
	if !errors.As(err, &refusal) || refusal.Kind.Status() != 400 || refusal.Reason == "" || refusal.Message == "" {
		t.Fatalf("not a proper refusal: %#v", err)
	}
	if !json.Valid(NIM{}.AppendError(nil, refusal, "id")) || len(refusal.Message)+len(refusal.Detail) > 2000 {
		t.Fatalf("cannot be told to the client: %q", err)
	}
}

// checkFaithful compares with an independent decoder.
func checkFaithful(t *testing.T, body []byte, got *ranking.Request) {
	var want struct {
		Model    *string
		Query    struct{ Text string }
		Passages []struct{ Text string }
		Truncate *string
	}
	if !utf8.Valid(body) || json.Unmarshal(body, &want) != nil {
		t.Fatalf("accepted what encoding/json refuses: %q", body)
	}
	if got.Query != want.Query.Text || len(got.Passages) != len(want.Passages) {
		t.Fatalf("%q became %+v", body, got)
	}
	for i, passage := range want.Passages {
		if got.Passages[i] != passage.Text {
			t.Fatalf("%q: passage %d became %q", body, i, got.Passages[i])
		}
	}
}
