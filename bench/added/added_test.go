package added

import (
	"net"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"trtmc-ranking-proxy/bench/load"
	"trtmc-ranking-proxy/bench/workloads"
	"trtmc-ranking-proxy/ipc/ipctest"
)

// A server that takes 2 ms longer than the Task adds 2 ms.
func TestMeasureTellsThemApart(t *testing.T) {
	const slower = 2 * time.Millisecond
	task := ipctest.Start(t, ipctest.Options{})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go fasthttp.Serve(ln, func(*fasthttp.RequestCtx) { time.Sleep(slower) })
	endpoint, err := load.NewEndpoint("http://"+ln.Addr().String(), "nim", "", "test-model")
	if err != nil {
		t.Fatal(err)
	}
	w, err := workloads.Load("W3")
	if err != nil {
		t.Fatal(err)
	}
	times, err := Measure(t.Context(), task.Address, endpoint, w, 10*time.Millisecond, 100*time.Millisecond, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if len(times.Task) != len(times.HTTP) || times.HTTP[0] < slower {
		t.Errorf("%d and %d times, the shortest %v", len(times.Task), len(times.HTTP), times.HTTP[0])
	}
	if task, http, added := times.P50(); added != http-task || task <= 0 {
		t.Errorf("%v, %v, %v", task, http, added)
	}
}
