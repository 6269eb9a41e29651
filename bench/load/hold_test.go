package load

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

func TestHoldKeepsConnectionsOpen(t *testing.T) {
	var seen atomic.Int64
	e := startServer(t, func(ctx *fasthttp.RequestCtx) {
		if ctx.ConnRequestNum() == 1 {
			seen.Add(1)
		}
		answerOK(ctx)
	})
	release, err := Hold(e.Target, twoPassages(t, e)[0], 20, 30*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if seen.Load() != 20 {
		t.Errorf("the server saw %d connections, want 20", seen.Load())
	}
	o := run(t, e, Plan{Concurrency: 1, Arrivals: Constant{Rate: 100}, Window: 100 * time.Millisecond})
	if o.Counts[OK] != 10 {
		t.Errorf("beside the held connections: %v", o.Counts)
	}
}

func TestHoldRefusesAServerThatHangsUp(t *testing.T) {
	f := func(handler fasthttp.RequestHandler) {
		t.Helper()
		e := startServer(t, handler)
		if _, err := Hold(e.Target, twoPassages(t, e)[0], 2, 30*time.Second); err == nil {
			t.Error("connections that the server refused are held")
		}
	}
	f(func(ctx *fasthttp.RequestCtx) { answerOK(ctx); ctx.SetConnectionClose() })
	f(func(ctx *fasthttp.RequestCtx) { ctx.Error("too many", 503) })
}
