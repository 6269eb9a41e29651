package main

import (
	"bytes"
	"testing"

	"trtmc-ranking-proxy/ipc/ipctest"
)

func TestProbe(t *testing.T) {
	f := func(code int, args ...string) {
		t.Helper()
		var out bytes.Buffer
		if got := probe(args, &out); got != code {
			t.Fatalf("probe %v: exit %d, not %d\n%s", args, got, code, out.String())
		}
	}
	task := ipctest.Start(t, ipctest.Options{})
	p := start(t, "--task-socket="+task.Address)
	p.eventually(t, "readiness", func() bool { return p.status("/v1/health/ready") == 200 })
	f(0, "--url="+p.url+"/v1/health/ready")
	task.Stop()
	p.eventually(t, "the loss", func() bool { return p.status("/v1/health/ready") == 503 })
	f(1, "--url="+p.url+"/v1/health/ready")
	f(0, "--url="+p.url+"/v1/health/live")
	f(1, "--url=http://127.0.0.1:1/")
	f(2, "now")
	f(2, "--uri=x")
}
