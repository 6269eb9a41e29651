package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/ipc/ipctest"
)

// door is one way in: how it words a request, and where its answer has the entries and their scores.
type door struct {
	path, body, list, score string
	squashed                bool
}

// entry is one line of any format's answer.
type entry struct {
	index int
	score float64
}

func (d door) entries(t *testing.T, a answer) []entry {
	t.Helper()
	if a.status != 200 {
		t.Fatalf("%s: %d %s", d.path, a.status, a.body)
	}
	raw := json.RawMessage(a.body)
	if d.list != "" {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(raw, &object); err != nil {
			t.Fatal(err)
		}
		raw = object[d.list]
	}
	var lines []map[string]any
	if err := json.Unmarshal(raw, &lines); err != nil {
		t.Fatalf("%s: %v in %s", d.path, err, a.body)
	}
	entries := make([]entry, len(lines))
	for i, line := range lines {
		entries[i] = entry{int(line["index"].(float64)), line[d.score].(float64)}
	}
	return entries
}

// doors are all ways in, for the query and the texts given.
func doors(query string, texts []string) []door {
	list, _ := json.Marshal(texts)
	objects := []map[string]string{}
	for _, text := range texts {
		objects = append(objects, map[string]string{"text": text})
	}
	passages, _ := json.Marshal(objects)
	nim := fmt.Sprintf(`{"model":"test-model","query":{"text":%q},"passages":%s}`, query, passages)
	documents := fmt.Sprintf(`{"model":"test-model","query":%q,"documents":%s}`, query, list)
	return []door{
		{"/v1/ranking", nim, "rankings", "logit", false},
		{"/v1/retrieval/test-model/reranking", nim, "rankings", "logit", false},
		{"/rerank", fmt.Sprintf(`{"query":%q,"texts":%s}`, query, list), "", "score", true},
		{"/rerank", fmt.Sprintf(`{"query":%q,"texts":%s,"raw_scores":true}`, query, list), "", "score", false},
		{"/rerank", documents, "results", "relevance_score", true},
		{"/v1/rerank", documents, "results", "relevance_score", true},
		{"/v2/rerank", documents, "results", "relevance_score", true},
		{"/v2/rerank", fmt.Sprintf(`{"model":"test-model","query":%q,"documents":%s}`, query, passages), "results", "relevance_score", true},
		{"/score", fmt.Sprintf(`{"text_1":%q,"text_2":%s}`, query, list), "data", "score", true},
		{"/v1/score", fmt.Sprintf(`{"text_1":%q,"text_2":%s,"use_activation":false}`, query, list), "data", "score", false},
	}
}

// The Task is asked the same through every door, and its scores and their order come out of each.
func TestEveryDoorGivesTheSameRanking(t *testing.T) {
	scores := []float32{0.25, -3.5, 7.125, 7.125, 1e-7, 31, 31.5}
	texts := []string{"a", "b \"quoted\"", "c", "\u8336", "e\n", "f", "g"}
	want := []int{6, 5, 2, 3, 0, 4, 1}
	asked := make(chan *ipc.Rank, 1)
	task := ipctest.Start(t, ipctest.Options{Rank: func(r *ipctest.Request) { asked <- r.Rank; scoresOf(scores...)(r) }})
	p := startProxy(t, task)
	for _, d := range doors("which?", texts) {
		a := p.do("POST", d.path, d.body, nil)
		got := d.entries(t, a)
		if rank := <-asked; rank.Query != "which?" || !slices.Equal(rank.Passages, texts) {
			t.Fatalf("%s: the Task was asked %+v", d.path, rank)
		}
		if strings.HasSuffix(d.path, "/score") {
			slices.SortStableFunc(got, func(a, b entry) int { return slices.Index(want, a.index) - slices.Index(want, b.index) })
		}
		for i, entry := range got {
			score := float64(scores[entry.index])
			if d.squashed {
				score = 1 / (1 + math.Exp(-score))
			} else {
				entry.score = float64(float32(entry.score))
			}
			if entry.index != want[i] || entry.score != score {
				t.Fatalf("%s: place %d has passage %d with %v, want %d with %v", d.path, i, entry.index, entry.score, want[i], score)
			}
		}
		if len(got) != len(texts) || strings.Contains(a.body, "null") {
			t.Fatalf("%s: %s", d.path, a.body)
		}
		if a.header.Get("X-Request-ID") == "" || a.header.Get("Server-Timing") == "" {
			t.Fatalf("%s: headers %v", d.path, a.header)
		}
	}
}

// The limits are those of the one ranking path, whichever the door; each format tells of them in its own shape.
func TestEveryDoorHasTheSameLimits(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{})
	p := startProxy(t, task, "--max-passages=2")
	f := func(query string, texts []string, status, tei int, mention string) {
		t.Helper()
		for _, d := range doors(query, texts) {
			want := status
			if d.path == "/rerank" {
				want = tei
			}
			if a := p.do("POST", d.path, d.body, nil); a.status != want || !strings.Contains(a.body, mention) {
				t.Fatalf("%s: got %d %s, want %d with %q", d.path, a.status, a.body, want, mention)
			}
		}
	}
	f("q", []string{}, 400, 400, "no passages")
	f("q", []string{"a", "b", "c"}, 400, 413, "3 passages are more than the maximum of 2")
	f(" \t", []string{"a"}, 400, 400, "query is empty")
	f("q", []string{"a", "\n"}, 400, 400, "passage 1")
	if task.Ranks.Load() != 0 {
		t.Fatal("bad input reached the Task")
	}
	number := func(n uint32) *uint32 { return &n }
	task.SetRank(ipctest.Refuse(ipc.Error{Code: ipc.CodeInputTooLong, Message: "long", Passage: number(1), Tokens: number(613), MaxTokens: number(512), Offending: number(1)}))
	f("q", []string{"a", "b"}, 400, 413, "Input length 613 exceeds maximum allowed token size 512")
	task.SetRank(ipctest.Refuse(ipc.Error{Code: ipc.CodeBackendRejectedRequest, Message: "the model says no"}))
	f("q", []string{"a"}, 422, 422, "the model says no")
	task.SetRank(ipctest.Refuse(ipc.Error{Code: ipc.CodeServerBusy, Message: "full"}))
	f("q", []string{"a"}, 429, 429, "full")
	task.SetRank(ipctest.Refuse(ipc.Error{Code: ipc.CodeBackendFailed, Message: "broken"}))
	f("q", []string{"a"}, 500, 424, "broken")
	task.Stop()
	p.waitReady(false)
	f("q", []string{"a"}, 503, 503, "not available")
}

// A client reads errors by the members that its own format has.
func TestErrorsHaveTheShapeOfTheirFormat(t *testing.T) {
	p := startProxy(t, ipctest.Start(t, ipctest.Options{}))
	f := func(path string, members ...string) {
		t.Helper()
		for _, method := range []string{"POST", "GET"} {
			var object map[string]any
			a := p.do(method, path, "{", nil)
			if err := json.Unmarshal([]byte(a.body), &object); err != nil || a.status/100 != 4 {
				t.Fatalf("%s: %d %q", path, a.status, a.body)
			}
			if got := slices.Sorted(maps.Keys(object)); !reflect.DeepEqual(got, members) {
				t.Fatalf("%s: members %v, want %v", path, got, members)
			}
		}
	}
	f("/v1/ranking", "detail", "error", "message", "request_id")
	f("/v1/retrieval/nvidia/some-model/reranking", "detail", "error", "message", "request_id")
	f("/rerank", "error", "error_type", "request_id")
	f("/v1/rerank", "detail", "id", "message")
	f("/v2/rerank", "id", "message")
	f("/score", "error", "request_id")
	f("/v1/score", "error", "request_id")
}

func TestHostedPathNamesTheModel(t *testing.T) {
	welcome := ipctest.DefaultWelcome()
	welcome.Model = "acme/rank-3.2-small_v1"
	p := startProxy(t, ipctest.Start(t, ipctest.Options{Welcome: welcome}), "--served-model-name=small")
	f := func(path, model string, status int) {
		t.Helper()
		body := `{` + model + `"query":{"text":"q"},"passages":[{"text":"a"},{"text":"b"}],"top_k":1}`
		a := p.do("POST", path, body, nil)
		if a.status != status || status == 200 && strings.Count(a.body, "index") != 1 {
			t.Fatalf("%s %s: got %d %s, want %d", path, model, a.status, a.body, status)
		}
	}
	f("/v1/retrieval/acme/rank-3_2-small_v1/reranking", `"model":"acme/rank-3.2-small.v1",`, 200) // as litellm sends it
	f("/v1/retrieval/acme/rank-3.2-small.v1/reranking", ``, 200)
	f("/v1/retrieval/acme/rank-3.2-small.v1/reranking", `"model":null,`, 200)
	f("/v1/retrieval/small/reranking", `"model":"acme/rank-3.2-small.v1",`, 200)
	f("/v1/retrieval/acme/other/reranking", ``, 404)
	f("/v1/retrieval/acme/other/reranking", `"model":"small",`, 404)
	f("/v1/retrieval/small/reranking", `"model":"other",`, 404)
	f("/v1/retrieval/a/b/small/reranking", ``, 404)
	f("/v1/retrieval//reranking", ``, 404)
	f("/v1/retrieval/reranking", ``, 404)
	f("/v1/retrieval/small/reranking/", ``, 404)
	if got := p.metric(`ranking_proxy_requests_total{route="/v1/retrieval/{org}/{model}/reranking",dialect="nim",outcome="ok"}`); got != "3" {
		t.Fatalf("counted %q", got)
	}
}

func TestNIMTopNIsAnOption(t *testing.T) {
	body := strings.Replace(request(3), `{`, `{"top_n":2,`, 1)
	task := ipctest.Start(t, ipctest.Options{})
	if a := startProxy(t, task).rank(body); a.status != 400 || !strings.Contains(a.body, "top_n") {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	if got := startProxy(t, task, "--nim-top-n").rank(body).ranking(t); len(got.Rankings) != 2 {
		t.Fatalf("got %+v", got)
	}
}

func TestTEIPages(t *testing.T) {
	welcome := ipctest.DefaultWelcome()
	welcome.Revision = "r1"
	task := ipctest.Start(t, ipctest.Options{Welcome: welcome})
	p := startProxy(t, task, "--max-in-flight=9")
	want := `{"model_id":"test-model","model_sha":"r1","model_dtype":"f32","model_type":{"reranker":{"id2label":{"0":"LABEL_0"},"label2id":{"LABEL_0":0}}},"max_concurrent_requests":9,"max_input_length":512,` +
		`"max_client_batch_size":512,"auto_truncate":false,"version":"test"}`
	if a := p.get("/info"); a.status != 200 || a.body != want {
		t.Fatalf("got %d %s\nwant %s", a.status, a.body, want)
	}
	if a := p.get("/health"); a.status != 200 || a.body != "" {
		t.Fatalf("got %d %q", a.status, a.body)
	}
	task.Stop()
	p.waitReady(false)
	if a := p.get("/health"); a.status != 503 || a.fields(t)["error_type"] != "Unhealthy" {
		t.Fatalf("got %d %s", a.status, a.body)
	}
}
