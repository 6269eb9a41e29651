package server

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/ipc/ipctest"
)

var itoa = strconv.Itoa

type rankingAnswer struct {
	Rankings []struct {
		Index int
		Logit float64
	}
	Usage *struct {
		PromptTokens int `json:"prompt_tokens"`
		TotalTokens  int `json:"total_tokens"`
	}
	Timing *struct {
		Queue   float64 `json:"queue_ms"`
		Call    float64 `json:"model_call_ms"`
		Handler float64 `json:"handler_ms"`
	} `json:"trtmc_timing"`
}

func (a answer) ranking(t testing.TB) (r rankingAnswer) {
	t.Helper()
	if a.status != 200 {
		t.Fatalf("status %d: %s", a.status, a.body)
	}
	if err := json.Unmarshal([]byte(a.body), &r); err != nil {
		t.Fatalf("%s: %v", a.body, err)
	}
	return r
}

// scoresOf answers every rank with the given scores.
func scoresOf(scores ...float32) ipctest.Handler {
	return func(r *ipctest.Request) { r.Reply(&ipc.Scores{ID: r.ID, Scores: scores, Batches: 1}) }
}

func passages(n int) string {
	return strings.TrimSuffix(strings.Repeat(`{"text":"p"},`, n), ",")
}

func request(n int) string {
	return `{"model":"test-model","query":{"text":"q"},"passages":[` + passages(n) + `]}`
}

func TestRankingAnswer(t *testing.T) {
	p := startProxy(t, ipctest.Start(t, ipctest.Options{}))
	a := p.do("POST", "/v1/ranking", goodBody, map[string]string{"X-Request-ID": "my-id:1"})
	r := a.ranking(t)
	if len(r.Rankings) != 3 || r.Rankings[0].Index != 1 || r.Rankings[1].Index != 0 || r.Rankings[2].Index != 2 {
		t.Fatalf("got %s", a.body)
	}
	for _, entry := range r.Rankings {
		passage := []string{"black tea", "green tea", "coffee"}[entry.Index]
		if want := ipctest.Score("green tea", passage); float32(entry.Logit) != want {
			t.Fatalf("passage %d: got %v, want %v", entry.Index, entry.Logit, want)
		}
	}
	if r.Usage == nil || r.Usage.PromptTokens != 7+7+6 || r.Usage.TotalTokens != r.Usage.PromptTokens {
		t.Fatalf("usage: %s", a.body)
	}
	if r.Timing == nil || r.Timing.Queue != 0.002 || r.Timing.Call != 0.003 || r.Timing.Handler <= 0 {
		t.Fatalf("timing: %s", a.body)
	}
	if got := a.header.Get("X-Request-ID"); got != "my-id:1" {
		t.Fatalf("request id %q", got)
	}
	if got := a.header.Get("Content-Type"); got != "application/json" {
		t.Fatalf("content type %q", got)
	}
	if got := a.header.Get("Server-Timing"); !serverTiming.MatchString(got) {
		t.Fatalf("Server-Timing: %q", got)
	}
}

var serverTiming = regexp.MustCompile(
	`^model;dur=0\.003, queue;dur=0\.002, tokenize;dur=0\.001, parse;dur=[\d.]+, ipc;dur=[\d.]+, render;dur=[\d.]+, handler;dur=[\d.]+$`)

func TestWithoutTokensAndTiming(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{Rank: scoresOf(1, 2)})
	a := startProxy(t, task, "--timing=false").rank(request(2))
	if a.body != `{"rankings":[{"index":1,"logit":2},{"index":0,"logit":1}]}` {
		t.Fatalf("got %s", a.body)
	}
	if a.header.Get("Server-Timing") != "" {
		t.Fatal("Server-Timing is there although it is off")
	}
}

func TestOrder(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{})
	p := startProxy(t, task)
	f := func(scores []float32, want ...int) {
		t.Helper()
		task.SetRank(scoresOf(scores...))
		r := p.rank(request(len(scores))).ranking(t)
		var got []int
		for _, entry := range r.Rankings {
			got = append(got, entry.Index)
			if float32(entry.Logit) != scores[entry.Index] {
				t.Fatalf("%v: passage %d has %v", scores, entry.Index, entry.Logit)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%v: got order %v, want %v", scores, got, want)
		}
	}
	f([]float32{0.5}, 0)
	f([]float32{1, 2, 3}, 2, 1, 0)
	f([]float32{7, 7, 7, 7}, 0, 1, 2, 3)
	f([]float32{1, 5, 1, 5, 1}, 1, 3, 0, 2, 4)
	f([]float32{0, float32(math.Copysign(0, -1)), 0}, 0, 1, 2)
	f([]float32{-math.MaxFloat32, math.MaxFloat32, 1e-45, 0}, 1, 2, 3, 0)
	f([]float32{9.000001, 9.000002, 9}, 1, 0, 2)
}

func TestWhatTheTaskIsAsked(t *testing.T) {
	ranks := make(chan *ipc.Rank, 1)
	task := ipctest.Start(t, ipctest.Options{Rank: func(r *ipctest.Request) { ranks <- r.Rank; ipctest.Answer(r) }})
	p := startProxy(t, task)
	const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	p.do("POST", "/v1/ranking", `{"model":null,"query":{"text":"\u0071"},"passages":[{"text":"b"},{"text":"a"}],"truncate":"END"}`,
		map[string]string{"X-Request-ID": "id-7", "traceparent": trace, "X-Request-Timeout-Ms": "5000"}).ranking(t)
	got := <-ranks
	if got.DeadlineMS == 0 || got.DeadlineMS > 5000 {
		t.Fatalf("deadline_ms %d", got.DeadlineMS)
	}
	got.DeadlineMS = 0
	want := &ipc.Rank{ID: "id-7", Query: "q", Passages: []string{"b", "a"}, Truncate: ipc.TruncateEnd, Traceparent: trace}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	p.rank(request(1)).ranking(t)
	if got := <-ranks; got.DeadlineMS < 100_000 || got.DeadlineMS > 120_000 || got.Truncate != ipc.TruncateNone {
		t.Fatalf("defaults: %+v", got)
	}
}

func TestRequestIDs(t *testing.T) {
	p := startProxy(t, ipctest.Start(t, ipctest.Options{}))
	f := func(sent string, kept bool) {
		t.Helper()
		for _, a := range []answer{
			p.do("POST", "/v1/ranking", goodBody, map[string]string{"X-Request-ID": sent}),
			p.do("POST", "/v1/ranking", "{", map[string]string{"X-Request-ID": sent}),
			p.do("GET", "/nowhere", "", map[string]string{"X-Request-ID": sent}),
		} {
			got := a.header.Get("X-Request-ID")
			if kept != (got == sent) || !validRequestID([]byte(got)) {
				t.Fatalf("sent %q, got %q", sent, got)
			}
			if a.status != 200 && a.fields(t)["request_id"] != got {
				t.Fatalf("header says %q, body %s", got, a.body)
			}
		}
	}
	f("a", true)
	f("A.b_c:d-9", true)
	f(strings.Repeat("x", 128), true)
	f(strings.Repeat("x", 129), false)
	f("-a", false)
	f("a b", false)
	f("a\"b", false)
	f("é", false)
}

func TestModelNames(t *testing.T) {
	welcome := ipctest.DefaultWelcome()
	welcome.Model = "org/rerank-1.5_b"
	p := startProxy(t, ipctest.Start(t, ipctest.Options{Welcome: welcome}), "--served-model-name=alias.x,other")
	f := func(model string, status int) {
		t.Helper()
		a := p.rank(fmt.Sprintf(`{"model":%q,"query":{"text":"q"},"passages":[{"text":"a"}]}`, model))
		if a.status != status {
			t.Fatalf("%q: got %d %s", model, a.status, a.body)
		}
		if status == 404 && a.fields(t)["error"] != "model_not_found" {
			t.Fatalf("%q: %s", model, a.body)
		}
	}
	f("org/rerank-1.5_b", 200)
	f("org/rerank-1_5.b", 200)
	f("alias.x", 200)
	f("alias_x", 200)
	f("other", 200)
	f("rerank-1.5_b", 404)
	f("Other", 404)
	f("org/rerank-1-5-b", 404)
}

func TestContentTypes(t *testing.T) {
	p := startProxy(t, ipctest.Start(t, ipctest.Options{}))
	f := func(contentType, encoding string, status int) {
		t.Helper()
		a := p.do("POST", "/v1/ranking", goodBody, map[string]string{"Content-Type": contentType, "Content-Encoding": encoding})
		if a.status != status || status == 415 && a.fields(t)["error"] != "unsupported_media_type" {
			t.Fatalf("%q, %q: got %d %s", contentType, encoding, a.status, a.body)
		}
	}
	f("application/json", "", 200)
	f("Application/JSON; charset=UTF-8", "", 200)
	f("", "", 200)
	f("application/x-www-form-urlencoded", "", 200) // curl -d
	f("application/json", "identity", 200)
	f("text/plain", "", 415)
	f("application/jsonx", "", 415)
	f("multipart/form-data; boundary=x", "", 415)
	f("application/json; charset=latin1", "", 415)
	f("application/json", "gzip", 415)
	f("; ;", "", 415)
}

func TestHEADAndUnknownRoutes(t *testing.T) {
	p := startProxy(t, ipctest.Start(t, ipctest.Options{}))
	f := func(method, path string, status int) {
		t.Helper()
		a := p.do(method, path, "", nil)
		if a.status != status {
			t.Fatalf("%s %s: got %d", method, path, a.status)
		}
		if method == "HEAD" {
			if a.body != "" {
				t.Fatalf("HEAD %s has a body", path)
			}
			return
		}
		if a.header.Get("Content-Type") != "application/json" || !json.Valid([]byte(a.body)) || !strings.Contains(a.body, a.header.Get("X-Request-ID")) {
			t.Fatalf("%s %s: got %s %q", method, path, a.header.Get("Content-Type"), a.body)
		}
		if (status == http.StatusMethodNotAllowed) != (a.header.Get("Allow") != "") {
			t.Fatalf("%s %s: Allow is %q", method, path, a.header.Get("Allow"))
		}
	}
	for path, r := range p.routes {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW"} {
			allowed := method == r.method || method == "HEAD" && r.method == "GET"
			if !allowed {
				f(method, path, 405)
			} else if method == "HEAD" {
				f(method, path, 200)
			}
		}
	}
	for _, path := range []string{"/page", "/v1/ranking/", "/v1/Ranking", "/v2/ranking", "/v1/ranking%00", "/%2e%2e/etc"} {
		f("GET", path, 404)
		f("POST", path, 404)
		f("HEAD", path, 404)
		if a := p.get(path); a.fields(t)["error"] != "not_found" {
			t.Fatalf("%s: %s", path, a.body)
		}
	}
}

func TestRefusals(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{})
	p := startProxy(t, task, "--max-passages=5")
	f := func(body, kind string, mentions ...string) {
		t.Helper()
		a := p.rank(body)
		fields := a.fields(t)
		if fields["error"] != kind || a.status/100 != 4 {
			t.Fatalf("%.200q: got %d %s", body, a.status, a.body)
		}
		for _, mention := range mentions {
			if !strings.Contains(fields["message"]+" "+fields["detail"], mention) {
				t.Fatalf("%.200q: %s does not mention %q", body, a.body, mention)
			}
		}
	}
	f(``, "invalid_request", "empty")
	f(`{"model":"m"`, "invalid_request", "byte")
	f(request(0), "invalid_request", "no passages")
	f(request(6), "invalid_request", "6", "maximum of 5")
	f(request(16_384), "invalid_request", "16384", "maximum of 5")
	f(request(200_000), "invalid_request", "200000", "maximum of 16384")
	f(`{"model":"m","query":{"text":" \n\u3000"},"passages":[{"text":"a"}]}`, "invalid_request", "query", "white space")
	f(`{"model":"test-model","query":{"text":"q"},"passages":[{"text":"a"},{"text":"\t"}]}`, "invalid_request", "passage 1", "white space")
	f(`{"model":"test-model","query":{"text":"q"},"passages":[{"text":""}]}`, "invalid_request", "passage 0")
	f(`{"model":"nobody","query":{"text":"q"},"passages":[{"text":"a"}]}`, "model_not_found", "test-model")
	f(`{"model":"test-model","query":{"text":"q"},"passages":[{"text":"a","image":"x"}]}`, "invalid_request", "text only")
	if task.Ranks.Load() != 0 {
		t.Fatal("bad input reached the Task")
	}
	p.rank(request(5)).ranking(t)
}

func TestTheTasksOwnCapApplies(t *testing.T) {
	welcome := ipctest.DefaultWelcome()
	welcome.MaxPassages = 2
	p := startProxy(t, ipctest.Start(t, ipctest.Options{Welcome: welcome}))
	p.rank(request(2)).ranking(t)
	if a := p.rank(request(3)); a.status != 400 || !strings.Contains(a.body, "maximum of 2") {
		t.Fatalf("got %d %s", a.status, a.body)
	}
}

func TestTimeoutHeader(t *testing.T) {
	p := startProxy(t, ipctest.Start(t, ipctest.Options{}))
	f := func(value string, status int) {
		t.Helper()
		if a := p.do("POST", "/v1/ranking", goodBody, map[string]string{"X-Request-Timeout-Ms": value}); a.status != status {
			t.Fatalf("%q: got %d %s", value, a.status, a.body)
		}
	}
	f("60000", 200)
	f("2147483647", 200)
	f("0", 400)
	f("-1", 400)
	f("1.5", 400)
	f("soon", 400)
	f("99999999999999999999", 400)
}

// Answers come back out of order and some clients leave; nobody may get the scores of another.
func TestNoAnswerCarriesTheScoresOfAnother(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{Rank: func(r *ipctest.Request) {
		ipctest.After(time.Duration(len(r.Passages)%7)*100*time.Microsecond, ipctest.Answer)(r)
	}})
	p := startProxy(t, task)
	var clients sync.WaitGroup
	for client := range 16 {
		clients.Go(func() {
			for i := range 40 {
				words := strings.Repeat("tea ", 1+(client*40+i)%50)
				n := 1 + (client+i)%20
				body := `{"model":null,"query":{"text":"tea"},"passages":[{"text":"` + words + `"}` + strings.Repeat(`,{"text":"water"}`, n) + `]}`
				if i%10 == 9 {
					p.raw(post(body)).Close()
					continue
				}
				r := p.rank(body).ranking(t)
				if want := ipctest.Score("tea", words); len(r.Rankings) != n+1 || r.Rankings[0].Index != 0 || float32(r.Rankings[0].Logit) != want {
					t.Errorf("got %+v, want %v first of %d", r.Rankings, want, n+1)
				}
			}
		})
	}
	clients.Wait()
}

func number(n uint32) *uint32 { return &n }

func TestTaskErrors(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{})
	p := startProxy(t, task)
	f := func(refusal ipc.Error, status int, kind, message, retryAfter string) {
		t.Helper()
		task.SetRank(ipctest.Refuse(refusal))
		a := p.rank(request(3))
		fields := a.fields(t)
		if a.status != status || fields["error"] != kind || fields["message"] != message || a.header.Get("Retry-After") != retryAfter {
			t.Fatalf("%s: got %d, Retry-After %q, %s", refusal.Code, a.status, a.header.Get("Retry-After"), a.body)
		}
	}
	f(ipc.Error{Code: ipc.CodeInvalidRequest, Message: "no"}, 400, "invalid_request", "no", "")
	f(ipc.Error{Code: ipc.CodeInputTooLong, Message: "long", Passage: number(2), Tokens: number(613), MaxTokens: number(512), Offending: number(1)},
		400, "input_too_long", "Input length 613 exceeds maximum allowed token size 512", "")
	f(ipc.Error{Code: ipc.CodeInputTooLong, Message: "long"}, 400, "input_too_long", "long", "")
	f(ipc.Error{Code: ipc.CodeBackendRejectedRequest, Message: "the family says no"}, 422, "backend_rejected_request", "the family says no", "")
	f(ipc.Error{Code: ipc.CodeServerBusy, Message: "full", RetryAfterMS: number(2100)}, 429, "server_busy", "full", "3")
	f(ipc.Error{Code: ipc.CodeServerBusy, Message: "full"}, 429, "server_busy", "full", "1")
	f(ipc.Error{Code: ipc.CodeBackendUnavailable, Message: "draining"}, 503, "backend_unavailable", "draining", "1")
	f(ipc.Error{Code: ipc.CodeBackendFailed, Message: "broken"}, 500, "backend_failed", "broken", "")
	f(ipc.Error{Code: ipc.CodeDeadlineExceeded, Message: "late"}, 504, "deadline_exceeded", "late", "")

	task.SetRank(ipctest.Refuse(ipc.Error{Code: ipc.CodeInputTooLong, Message: "long", Passage: number(2), Tokens: number(613), MaxTokens: number(512), Offending: number(4)}))
	if detail := p.rank(request(9)).fields(t)["detail"]; !strings.Contains(detail, "passage 2 (counted from 0)") || !strings.Contains(detail, "first of 4") {
		t.Fatalf("detail %q", detail)
	}
	for _, wrong := range []ipctest.Handler{ipctest.NaN, ipctest.Short, ipctest.Foreign} {
		task.SetRank(wrong)
		if a := p.rank(request(3)); a.status != 500 || a.fields(t)["error"] != "backend_failed" {
			t.Fatalf("got %d %s", a.status, a.body)
		}
	}
	task.SetRank(ipctest.Answer)
	p.rank(request(3)).ranking(t)
}
