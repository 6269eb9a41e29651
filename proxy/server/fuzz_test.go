package server

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"github.com/valyala/fasthttp"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/ipc/ipctest"
	"trtmc-ranking-proxy/proxy/config"
	"trtmc-ranking-proxy/proxy/dialect"
	"trtmc-ranking-proxy/proxy/telemetry"
)

// goodTask scores whatever reaches it, and fails the test if that is not fit for a Task.
type goodTask struct{ t testing.TB }

func (goodTask) Ready() (bool, string) { return true, "" }

func (goodTask) Identity() *ipc.Welcome {
	welcome := ipctest.DefaultWelcome()
	return &welcome
}

func (b goodTask) Rank(_ context.Context, rank *ipc.Rank) (*ipc.Scores, *ipc.Welcome, error) {
	if _, err := ipc.AppendFrame(nil, 1, rank); err != nil {
		b.t.Errorf("cannot be sent: %v", err)
	}
	scores := &ipc.Scores{ID: rank.ID, Scores: make([]float32, len(rank.Passages))}
	return scores, b.Identity(), nil
}

// FuzzRankingBody: whatever the body and the headers, the answer is JSON, and its status says either "ranked" or whose fault it is.
func FuzzRankingBody(f *testing.F) {
	c, err := config.Parse([]string{"--max-passages=100"}, func(string) (string, bool) { return "", false }, io.Discard)
	if err != nil {
		f.Fatal(err)
	}
	s, err := New(Options{
		Config: c, Backend: goodTask{f}, Metrics: telemetry.New("test"), Log: zerolog.New(io.Discard), Version: "test",
		Dialects: dialect.All(dialect.NIM{DefaultModel: dialect.DefaultModelNull}),
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(s.watcher.Close)
	f.Add([]byte(goodBody), "application/json", "id-1", "100")
	f.Add([]byte(request(101)), "", "", "")
	f.Add([]byte(`{"model":null,"query":{"text":" "},"passages":[{"text":"\u3000"}]}`), "text/json;charset=x", "-", "1e3")
	f.Add([]byte("{\"model\":\"\xff"), "application/json; charset=\"utf-8\"", "\x00", "-1")
	f.Add([]byte(`{"query":"q","texts":["a"],"raw_scores":true}`), "application/json", "id-2", "")
	f.Add([]byte(`{"model":"test-model","query":"q","documents":["a",{"text":"b"}],"top_n":1}`), "application/json", "id-3", "")
	f.Add([]byte(`{"text_1":"q","text_2":["a","b"]}`), "application/json", "id-4", "")
	f.Fuzz(func(t *testing.T, body []byte, contentType, id, timeout string) {
		for path, r := range s.routes {
			if r.method == fasthttp.MethodPost {
				fuzzOne(t, s, path, body, contentType, id, timeout)
			}
		}
	})
}

func fuzzOne(t *testing.T, s *Server, path string, body []byte, contentType, id, timeout string) {
	var ctx fasthttp.RequestCtx
	ctx.Request.Header.SetMethod("POST")
	ctx.Request.SetRequestURI(strings.NewReplacer("{", "", "}", "").Replace(path))
	ctx.Request.Header.SetContentType(contentType)
	ctx.Request.Header.Set("X-Request-ID", id)
	if timeout != "" {
		ctx.Request.Header.Set(timeoutHeader, timeout)
	}
	ctx.Request.SetBody(body)
	s.handle(&ctx)
	a := reply(t, strings.NewReader(ctx.Response.String()))
	if a.status != 200 && a.status/100 != 4 {
		t.Fatalf("%s: status %d: %s", path, a.status, a.body)
	}
	if !json.Valid([]byte(a.body)) {
		t.Fatalf("%s: not JSON: %q", path, a.body)
	}
	if id := a.header.Get("X-Request-ID"); !validRequestID([]byte(id)) {
		t.Fatalf("%s: request id %q", path, id)
	}
}
