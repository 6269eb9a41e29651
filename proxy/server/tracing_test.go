package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"trtmc-ranking-proxy/ipc/ipctest"
)

func TestTraceparentIsPassedOn(t *testing.T) {
	const trace, incoming = "4bf92f3577b34da6a3ce929d0e0e4736", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	passedOn := make(chan string, 1)
	task := ipctest.Start(t, ipctest.Options{Rank: func(r *ipctest.Request) { passedOn <- r.Traceparent; ipctest.Answer(r) }})
	p := startProxy(t, task)
	f := func(traceparent string, good func(got string) bool) {
		t.Helper()
		p.do("POST", "/v1/ranking", goodBody, map[string]string{"traceparent": traceparent}).ranking(t)
		if got := <-passedOn; !good(got) {
			t.Fatalf("%q became %q", traceparent, got)
		}
	}
	f(incoming, func(got string) bool { return got == incoming })
	f("not one", func(got string) bool { return got == "" })
	p.eventually("the log line", func() bool { return strings.Contains(p.logs.text(), `"traceparent":"`+incoming+`"`) })

	exported := make(chan struct{}, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { exported <- struct{}{} }))
	defer collector.Close()
	p = startProxy(t, task, "--otlp-endpoint="+collector.URL+"/v1/traces")
	f(incoming, func(got string) bool { return got != incoming && strings.HasPrefix(got, "00-"+trace+"-") })
	f("", func(got string) bool { return len(got) == len(incoming) })
	p.do("POST", "/v1/ranking", "{", nil) // has a span as well, though no Task sees it
	if err := p.Tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-exported
}
