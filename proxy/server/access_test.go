package server

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"trtmc-ranking-proxy/ipc/ipctest"
)

func TestEveryDoorAsksForTheKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(file, []byte("open-sesame\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	task := ipctest.Start(t, ipctest.Options{})
	p := startProxy(t, task, "--api-key-file="+file)
	members := map[string][]string{
		"/v1/ranking": {"detail", "error", "message", "request_id"}, "/v1/retrieval/test-model/reranking": {"detail", "error", "message", "request_id"},
		"/rerank": {"error", "error_type", "request_id"}, "/v2/rerank": {"id", "message"}, "/v1/rerank": {"detail", "id", "message"},
		"/score": {"error", "request_id"}, "/v1/score": {"error", "request_id"},
	}
	for _, d := range doors("q", []string{"a", "b"}) {
		for _, authorization := range []string{"", "Bearer wrong", "Basic open-sesame"} {
			a := p.do("POST", d.path, d.body, map[string]string{"Authorization": authorization})
			var object map[string]any
			if err := json.Unmarshal([]byte(a.body), &object); err != nil || a.status != 401 || a.header.Get("WWW-Authenticate") != "Bearer" {
				t.Fatalf("%s with %q: got %d %s", d.path, authorization, a.status, a.body)
			}
			if got := slices.Sorted(maps.Keys(object)); !slices.Equal(got, members[d.path]) {
				t.Fatalf("%s: members %v", d.path, got)
			}
		}
		if a := p.do("POST", d.path, "not even JSON", nil); a.status != 401 {
			t.Fatalf("%s: the body was looked at before the key: %d %s", d.path, a.status, a.body)
		}
	}
	if task.Ranks.Load() != 0 {
		t.Fatal("the Task was asked without a key")
	}
	for _, d := range doors("q", []string{"a", "b"}) {
		d.entries(t, p.do("POST", d.path, d.body, map[string]string{"Authorization": "Bearer open-sesame"}))
	}
	for path, r := range p.routes {
		if r.method == http.MethodGet {
			if a := p.get(path); a.status != 200 {
				t.Fatalf("%s: %d; pages are open", path, a.status)
			}
		}
	}
	if got := p.metric(`ranking_proxy_rejections_total{kind="unauthorized",reason="wrong_key"}`); got != "10" {
		t.Fatalf("%s wrong keys counted", got)
	}
	if strings.Contains(p.logs.text(), "sesame") || strings.Contains(p.logs.text(), "Bearer") {
		t.Fatal("a key is in the log")
	}
}

func TestWithoutKeysAuthorizationIsIgnored(t *testing.T) {
	p := startProxy(t, ipctest.Start(t, ipctest.Options{}))
	for _, authorization := range []string{"Bearer **********", "Bearer NO_API_KEY_PROVIDED", "junk", "Basic ="} {
		p.do("POST", "/v1/ranking", goodBody, map[string]string{"Authorization": authorization}).ranking(t)
	}
}

func TestAdminListener(t *testing.T) {
	p := startProxy(t, ipctest.Start(t, ipctest.Options{}), "--admin-listen=127.0.0.1:0", "--max-connections=1")
	admin := p.at(p.admin)
	p.rank(goodBody).ranking(t) // and keeps the one connection there may be
	for path, r := range p.routes {
		if r.method != http.MethodGet {
			continue
		}
		here, there := p.get(path).status, admin.get(path).status
		if want := [2]int{200, 404}; !r.admin && [2]int{here, there} != want || r.admin && [2]int{there, here} != want {
			t.Errorf("%s: %d on the main listener, %d on that for admin", path, here, there)
		}
	}
	if a := admin.rank(goodBody); a.status != 404 {
		t.Fatalf("ranking on the admin listener: %d", a.status)
	}
}

func TestCORS(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{})
	const ask = "https://app.example"
	f := func(p *proxy, method, path, origin string, status int, allowed, methods string) {
		t.Helper()
		header := map[string]string{"Origin": origin, "Access-Control-Request-Method": "POST"}
		a := p.do(method, path, map[string]string{"POST": goodBody}[method], header)
		if a.status != status || a.header.Get("Access-Control-Allow-Origin") != allowed || a.header.Get("Access-Control-Allow-Methods") != methods {
			t.Fatalf("%s %s from %s: got %d %v", method, path, origin, a.status, a.header)
		}
		if allowed != "" && !strings.Contains(a.header.Get("Access-Control-Expose-Headers"), "X-Request-ID") {
			t.Fatalf("%s: headers are hidden: %v", method, a.header)
		}
		if methods != "" && !strings.Contains(a.header.Get("Access-Control-Allow-Headers"), "Authorization") {
			t.Fatalf("%s: %v", method, a.header)
		}
	}
	off := startProxy(t, task)
	f(off, "OPTIONS", "/v1/ranking", ask, 405, "", "")
	f(off, "POST", "/v1/ranking", ask, 200, "", "")
	some := startProxy(t, task, "--cors-origin=https://other.example,"+ask)
	f(some, "OPTIONS", "/v1/ranking", ask, 204, ask, "POST")
	f(some, "OPTIONS", "/v2/rerank", ask, 204, ask, "POST")
	f(some, "OPTIONS", "/v1/models", ask, 204, ask, "GET, HEAD")
	f(some, "POST", "/v1/ranking", ask, 200, ask, "")
	f(some, "GET", "/v1/models", ask, 200, ask, "")
	f(some, "GET", "/nowhere", ask, 404, ask, "")
	f(some, "OPTIONS", "/v1/ranking", "https://evil.example", 405, "", "")
	f(some, "POST", "/v1/ranking", "https://app.example.evil.example", 200, "", "")
	f(some, "POST", "/v1/ranking", "", 200, "", "")
	if a := some.get("/v1/models"); a.header.Get("Vary") != "Origin" {
		t.Fatalf("a cache would mix up origins: %v", a.header)
	}
	any := startProxy(t, task, "--cors-origin=*")
	f(any, "OPTIONS", "/v1/ranking", ask, 204, "*", "POST")
	f(any, "POST", "/v1/ranking", "null", 200, "*", "")
	f(any, "POST", "/v1/ranking", "", 200, "", "")
}

func TestThePageLoadsNothingFromElsewhere(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{})
	p := startProxy(t, task)
	for _, path := range []string{"/", "/page.css", "/page.js"} {
		a := p.get(path)
		if a.status != 200 || strings.Contains(a.body, "http://") || strings.Contains(a.body, "https://") || strings.Contains(a.body, "//cdn") {
			t.Fatalf("%s: %d", path, a.status)
		}
		if policy := a.header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'") {
			t.Fatalf("%s: policy %q", path, policy)
		}
	}
	off := startProxy(t, task, "--page=false")
	for _, path := range []string{"/", "/page.css", "/page.js"} {
		if a := off.get(path); a.status != 404 {
			t.Fatalf("%s: %d although the page is off", path, a.status)
		}
	}
}
