package server

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/ipc/ipctest"
	"trtmc-ranking-proxy/proxy/ranking"
)

func TestHealthBodies(t *testing.T) {
	p := startProxy(t, ipctest.Start(t, ipctest.Options{}))
	f := func(path, want string) {
		t.Helper()
		if a := p.get(path); a.status != 200 || a.body != want {
			t.Fatalf("%s: got %d %s", path, a.status, a.body)
		}
	}
	for _, prefix := range []string{"/v1/health/", "/health/"} {
		f(prefix+"live", `{"object":"health.response","message":"Service is live.","status":"live"}`)
		f(prefix+"ready", `{"object":"health.response","message":"Service is ready.","status":"ready"}`)
	}
}

func TestModels(t *testing.T) {
	p := startProxy(t, ipctest.Start(t, ipctest.Options{}), "--served-model-name=alias")
	want := `{"object":"list","data":[{"id":"test-model","object":"model","owned_by":"trtmc-ranking-proxy","root":"test-model","max_model_len":512},` +
		`{"id":"alias","object":"model","owned_by":"trtmc-ranking-proxy","root":"test-model","max_model_len":512}]}`
	if a := p.get("/v1/models"); a.body != want {
		t.Fatalf("got %s", a.body)
	}
}

func TestMetricsPage(t *testing.T) {
	p := startProxy(t, ipctest.Start(t, ipctest.Options{}))
	p.rank(goodBody).ranking(t)
	for _, path := range []string{"/metrics", "/v1/metrics"} {
		if a := p.do("HEAD", path, "", nil); a.status != 200 || a.body != "" {
			t.Fatalf("HEAD %s: %d %q", path, a.status, a.body)
		}
		page := p.get(path).body
		for _, line := range []string{
			"# TYPE ranking_proxy_requests_total counter",
			`ranking_proxy_requests_total{route="/v1/ranking",dialect="nim",outcome="ok"} 1`,
			"ranking_proxy_passages_total 3", "ranking_proxy_tokens_total 20", "ranking_proxy_task_up 1",
			"ranking_proxy_requests_in_flight 0", "ranking_task_queue_seconds_count 1",
			"ranking_task_public_task_call_wall_seconds_count 1", "ranking_proxy_ipc_round_trip_seconds_count 1",
			`ranking_proxy_handler_seconds_count{route="/v1/ranking"} 1`,
		} {
			if !strings.Contains(page, line+"\n") {
				t.Fatalf("%s lacks %q:\n%s", path, line, page)
			}
		}
	}
}

func TestLogsHoldNoTextsAndNoHeaders(t *testing.T) {
	p := startProxy(t, ipctest.Start(t, ipctest.Options{}))
	secret := map[string]string{"Authorization": "Bearer hunter2", "X-Request-ID": "hunter2 with a space", "traceparent": "hunter2"}
	p.do("POST", "/v1/ranking", `{"model":"test-model","query":{"text":"hunter2"},"passages":[{"text":"hunter2"}]}`, secret).ranking(t)
	for _, body := range []string{
		`{"hunter2":1}`, `{"model":"hunter2","query":{"text":"q"},"passages":[{"text":"a"}]}`, `{"model":"m","hunter2`,
	} {
		p.do("POST", "/v1/ranking", body, secret)
	}
	p.do("GET", "/hunter2?hunter2", "", secret)
	reply(t, p.raw("GET /hunter2 HTTP/1.1\r\nHunter2 : hunter2\r\n\r\n"))
	p.eventually("the log lines", func() bool { return strings.Count(p.logs.text(), `"request_id"`) >= 6 })
	if logs := p.logs.text(); strings.Contains(strings.ToLower(logs), "hunter2") {
		t.Fatalf("a client's words are in the log:\n%s", logs)
	}
}

func TestLogLevels(t *testing.T) {
	p := startProxy(t, ipctest.Start(t, ipctest.Options{}), "--log-level=info", "--log-sample=2", "--debug-request=look-at-me")
	want := map[string]bool{"good-1": false, "good-2": true, "good-3": false, "bad-1": true, "look-at-me": true}
	send := func(id, body string) { p.do("POST", "/v1/ranking", body, map[string]string{"X-Request-ID": id}) }
	logged := func(id string) bool { return strings.Contains(p.logs.text(), `"request_id":"`+id+`"`) }
	send("good-1", goodBody)
	send("good-2", goodBody)
	send("good-3", goodBody)
	send("bad-1", "{")
	send("look-at-me", goodBody)
	p.eventually("the last line", func() bool { return logged("look-at-me") })
	for id, should := range want {
		if logged(id) != should {
			t.Fatalf("%s: want %v\n%s", id, should, p.logs.text())
		}
	}
	for _, stage := range []string{"decode_ms", "ipc_ms", "queue_us", "tokenize_us", "public_task_call_wall_us", "handler_ms"} {
		if !strings.Contains(p.logs.text(), stage) {
			t.Fatalf("no %s in\n%s", stage, p.logs.text())
		}
	}
}

// documented checks real answers against the OpenAPI document.
type documented struct {
	*proxy
	router routers.Router
}

func (d documented) check(method, path, body string, header map[string]string, status int) {
	d.t.Helper()
	a := d.do(method, path, body, header)
	if a.status != status {
		d.t.Fatalf("%s %s: got %d %s", method, path, a.status, a.body)
	}
	request, _ := http.NewRequest(method, "http://x"+path, strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	found, parameters, err := d.router.FindRoute(request)
	if err != nil {
		d.t.Fatalf("%s %s: %v", method, path, err)
	}
	input := &openapi3filter.RequestValidationInput{Request: request, Route: found, PathParams: parameters, QueryParams: url.Values{}}
	response := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: a.status, Header: a.header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	}
	response.SetBodyBytes([]byte(a.body))
	if err := openapi3filter.ValidateResponse(context.Background(), response); err != nil {
		d.t.Fatalf("%s %s: %v", method, path, err)
	}
	if status == 200 && method == "POST" {
		if err := openapi3filter.ValidateRequest(context.Background(), input); err != nil {
			d.t.Fatalf("%s: accepted against the document: %v", body, err)
		}
	}
}

func TestAnswersMatchTheOpenAPIDocument(t *testing.T) {
	for _, media := range []string{"text/plain", "text/html", "text/css", "text/javascript"} {
		openapi3filter.RegisterBodyDecoder(media, openapi3filter.FileBodyDecoder)
	}
	task := ipctest.Start(t, ipctest.Options{})
	p := startProxy(t, task, "--max-body-bytes=2000")
	document, err := openapi3.NewLoader().LoadFromData([]byte(p.get("/openapi.json").body))
	if err != nil {
		t.Fatal(err)
	}
	if err := document.Validate(context.Background()); err != nil {
		t.Fatal(err)
	}
	for path, r := range p.routes {
		if item := document.Paths.Value(path); item == nil || item.GetOperation(r.method) == nil {
			t.Fatalf("%s %s is not in the document", r.method, path)
		}
	}
	if got, want := document.Paths.Len(), len(p.routes); got != want {
		t.Fatalf("the document has %d paths, the server %d", got, want)
	}
	router, err := gorillamux.NewRouter(document)
	if err != nil {
		t.Fatal(err)
	}
	d := documented{p, router}
	d.check("POST", "/v1/ranking", goodBody, nil, 200)
	d.check("POST", "/v1/ranking", strings.Replace(goodBody, `"test-model"`, "null", 1), nil, 200)
	for _, door := range doors("q", []string{"a", "b"}) {
		d.check("POST", door.path, door.body, nil, 200)
		d.check("POST", door.path, "{", nil, 400)
	}
	d.check("POST", "/v1/ranking", "{", nil, 400)
	d.check("POST", "/v1/ranking", strings.Replace(goodBody, "test-model", "other", 1), nil, 404)
	d.check("POST", "/v1/ranking", strings.Repeat(" ", 3000), nil, 413)
	d.check("POST", "/v1/ranking", goodBody, map[string]string{"Content-Encoding": "br"}, 415)
	task.SetRank(ipctest.Refuse(ipc.Error{Code: ipc.CodeBackendRejectedRequest, Message: "no"}))
	d.check("POST", "/v1/ranking", goodBody, nil, 422)
	task.SetRank(ipctest.Refuse(ipc.Error{Code: ipc.CodeServerBusy, Message: "full"}))
	d.check("POST", "/v1/ranking", goodBody, nil, 429)
	task.SetRank(ipctest.Refuse(ipc.Error{Code: ipc.CodeBackendFailed, Message: "broken"}))
	d.check("POST", "/v1/ranking", goodBody, nil, 500)
	task.SetRank(ipctest.Silent)
	d.check("POST", "/v1/ranking", goodBody, map[string]string{"X-Request-Timeout-Ms": "10"}, 504)
	for path, r := range p.routes {
		if r.method == "GET" {
			d.check("GET", path, "", nil, 200)
		}
	}
	task.Stop()
	p.waitReady(false)
	d.check("POST", "/v1/ranking", goodBody, nil, 503)
	for _, door := range doors("q", []string{"a", "b"}) {
		d.check("POST", door.path, door.body, nil, 503)
	}
	d.check("GET", "/v1/health/ready", "", nil, 503)
}

func TestTheDocumentNamesEveryKind(t *testing.T) {
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct{ Enum []any }
			}
		}
	}
	if err := json.Unmarshal(openAPIDocument, &document); err != nil {
		t.Fatal(err)
	}
	named := document.Components.Schemas["Error"].Properties["error"].Enum
	for _, kind := range ranking.Kinds() {
		if !slices.Contains(named, any(string(kind))) {
			t.Errorf("%s is not in the document", kind)
		}
	}
}
